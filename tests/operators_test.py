#!/usr/bin/env python3
"""Our operators in PyTorch: values beside PyTorch's own, gradients, and PyTorch's checks of custom operators.

  operators_test.py CASE     STOKER_OPS names libstoker_ops_autograd.so; needs the torch of requirements.txt
"""

import os
import sys

import torch

torch.ops.load_library(os.environ["STOKER_OPS"])
ops = torch.ops.stoker


def convolved(image, kernel):
    rows, columns = kernel.shape
    flat = image.reshape(-1, 1, *image.shape[-2:])
    return torch.nn.functional.conv2d(flat, kernel[None, None], padding=(rows // 2, columns // 2)).reshape(image.shape)


def values():
    torch.manual_seed(1)
    for shape in ((1, 1), (7, 40), (2, 3, 33, 20)):
        for sides in ((3, 3), (5, 3), (1, 9), (31, 31)):
            image, kernel = torch.randint(-20, 20, shape).double(), torch.randint(-9, 9, sides).double()
            expected = convolved(image, kernel)
            assert torch.allclose(ops.correlation(image, kernel), expected, rtol=1e-12)
            assert torch.equal(ops.correlation(image.int(), kernel.int()), expected.int())
            gx, gy = expected, convolved(image, kernel.T)
            assert torch.allclose(ops.sobel(image, kernel), torch.sqrt(gx * gx + gy * gy), rtol=1e-12)
    for column, row in (((1, 2, 1), (1, 0, -1)), ((3, 10, 3), (1, 0, -1)), ((1, 2, 1, 2, 1), (1, 0, -1)),
                        ((1, 2, 1, 2, 1), (1, 0, 0, 0, -1))):  # R17: f1 to f4
        image, kernel = torch.randint(0, 256, (33, 47)), torch.outer(torch.tensor(column), torch.tensor(row)).float()
        gx, gy = convolved(image.double(), kernel.double()), convolved(image.double(), kernel.T.double())
        assert torch.allclose(ops.sobel(image.byte(), kernel).double(), torch.sqrt(gx * gx + gy * gy), rtol=1e-6)
    a, b = torch.randint(0, 256, (2, 1000, 1000), dtype=torch.int32)
    assert torch.equal(ops.maximum(a, b), torch.maximum(a, b))
    x = torch.randn(200, 70, dtype=torch.float64)
    assert torch.allclose(ops.gram(x), x @ x.T, rtol=1e-12)


def gradients():
    torch.manual_seed(2)
    for shape in ((6, 7), (2, 5, 4)):
        for sides in ((3, 3), (5, 3), (1, 7), (7, 9)):
            image = torch.randn(shape, dtype=torch.float64, requires_grad=True)
            kernel = torch.randn(sides, dtype=torch.float64, requires_grad=True)
            assert torch.autograd.gradcheck(ops.correlation, (image, kernel))
            assert torch.autograd.gradgradcheck(ops.correlation, (image, kernel))
    image, kernel = torch.randn(64, 48, requires_grad=True), torch.randn(5, 5, requires_grad=True)
    weights = torch.randn(64, 48)
    ours = torch.autograd.grad((ops.correlation(image, kernel) * weights).sum(), (image, kernel))
    theirs = torch.autograd.grad((convolved(image, kernel) * weights).sum(), (image, kernel))
    assert all(torch.allclose(a, b, rtol=1e-4, atol=1e-4) for a, b in zip(ours, theirs))


def checks():
    """PyTorch's own test of schemas, shape functions, autograd and compilation."""
    bytes_, ints = torch.randint(0, 255, (9, 12), dtype=torch.uint8), torch.randint(-9, 9, (3, 3), dtype=torch.int32)
    torch.library.opcheck(ops.correlation.default, (torch.randn(2, 9, 12, requires_grad=True), torch.randn(3, 5, requires_grad=True)))
    torch.library.opcheck(ops.correlation.default, (bytes_, ints))
    torch.library.opcheck(ops.sobel.default, (bytes_, torch.randn(3, 3)))
    torch.library.opcheck(ops.maximum.default, (ints, ints + 1))
    torch.library.opcheck(ops.gram.default, (torch.randn(7, 5),))


def compiled():
    @torch.compile(fullgraph=True, backend="aot_eager")
    def edges(image, kernel):
        return ops.correlation(image * 2, kernel).relu() + 1

    for shape in ((8, 9), (20, 30), (21, 31)):
        image, kernel = torch.randn(shape), torch.randn(3, 3)
        assert torch.allclose(edges(image, kernel), convolved(image * 2, kernel).relu() + 1, atol=1e-4)


if __name__ == "__main__":
    {"Values": values, "Gradients": gradients, "Checks": checks, "Compiled": compiled}[sys.argv[1]]()
    print(f"{sys.argv[1]}: equal, with torch {torch.__version__}")
