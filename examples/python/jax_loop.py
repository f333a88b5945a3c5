#!/usr/bin/env python3
"""JAX with Stoker's feed: a linear classifier of Fashion-MNIST. Batches are JAX arrays; on a CPU without a copy.

    python jax_loop.py [--data fashion-mnist] [--epochs 2]
"""

import argparse

import jax
import jax.numpy as jnp
import stoker


def loss_of(weights, images, labels):
    flat = images.reshape(len(images), -1)
    scores = jax.nn.log_softmax(flat @ weights["matrix"] + weights["bias"])
    return -jnp.take_along_axis(scores, labels[:, None], axis=1).mean()


@jax.jit
def step(weights, images, labels):
    loss, gradients = jax.value_and_grad(loss_of)(weights, images, labels)
    return jax.tree.map(lambda weight, gradient: weight - 0.1 * gradient, weights, gradients), loss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="fashion-mnist")
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()

    # One shape for every batch, so that JAX compiles the step once.
    feed = stoker.Feed(options.data, augment="shift(-2,2),noise(0.05)", batch_size=128, seed=1, drop_last=True, framework="jax")
    rows, columns, channels = feed.image_shape
    classes = len(feed.classes)
    weights = {"matrix": jnp.zeros((rows * columns * channels, classes)), "bias": jnp.zeros(classes)}
    for epoch in range(options.epochs):
        for images, labels in feed:
            weights, loss = step(weights, images, labels.astype(jnp.int32))
        print(f"epoch {epoch}: loss of the last batch {loss:.4f}")


if __name__ == "__main__":
    main()
