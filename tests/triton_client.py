"""Asks a server as Triton's own client does; prints what it heard as JSON. Exit code 77: there is no such client.

    triton_client.py HOST:PORT IMAGE
"""

import json
import pathlib
import sys

try:
    import numpy
    import tritonclient.http
except ImportError:
    sys.exit(77)

client = tritonclient.http.InferenceServerClient(sys.argv[1])
assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("small")
assert client.get_server_metadata()["name"] == "stoker"
assert client.get_model_metadata("small")["outputs"][0]["name"] == "probabilities"
image = numpy.array([pathlib.Path(sys.argv[2]).read_bytes()], dtype=object)
heard = []
for binary in (True, False):
    given = tritonclient.http.InferInput("image", [1], "BYTES")
    given.set_data_from_numpy(image, binary_data=True)
    outputs = [tritonclient.http.InferRequestedOutput(name, binary_data=binary) for name in ("probabilities", "label", "class")]
    result = client.infer("small", [given], outputs=outputs, request_id="one")
    assert result.get_response()["id"] == "one"
    best = int(result.as_numpy("class")[0])
    label = result.as_numpy("label")[0]
    assert (label.decode() if isinstance(label, bytes) else label) == "xy"[best]
    heard.append([float(value) for value in result.as_numpy("probabilities")[0]])
print(json.dumps({"probabilities": heard}))
