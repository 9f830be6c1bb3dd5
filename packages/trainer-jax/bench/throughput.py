"""The passes of throughput.ts in PyTorch: the same shapes, with prompts shared and repeated, on the same processor.

    python3 packages/trainer-jax/bench/throughput.py [--size 128x3] [--threads 1] [--groups 4]
"""

import argparse
import json
import os
import sys
import time

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    sys.exit("PyTorch is not installed: there is nothing to compare with.")

arguments = argparse.ArgumentParser()
arguments.add_argument("--size", default="128x3")
arguments.add_argument("--threads", type=int, default=1)
arguments.add_argument("--device", default="cpu", help="cpu, or cuda")
arguments.add_argument("--groups", type=int, default=4)
arguments.add_argument("--passes", type=int, default=3)
arguments.add_argument("--vocabulary", type=int, default=1000)
options = arguments.parse_args()

D, L = map(int, options.size.split("x"))
H, V = D // 32, options.vocabulary
K = 32
FF = 512 if D == 192 else 2 * D
P, G, C = 255, 16, 48
torch.set_num_threads(options.threads)
torch.set_default_device(options.device)
torch.manual_seed(0)


def weight(*shape):
    return torch.nn.Parameter(torch.randn(*shape) * 0.55 / shape[-1] ** 0.5)


table = weight(V, D)
layers = [
    {
        **{name: weight(D, D) for name in "qkvo"},
        "gate": weight(FF, D),
        "up": weight(FF, D),
        "down": weight(D, FF),
        "first": torch.nn.Parameter(torch.ones(D)),
        "second": torch.nn.Parameter(torch.ones(D)),
    }
    for _ in range(L)
]
final = torch.nn.Parameter(torch.ones(D))
parameters = [table, final] + [one for layer in layers for one in layer.values()]
optimizer = torch.optim.AdamW(parameters, lr=1e-4, weight_decay=0)


def norm(x, scale):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * scale


def rotate(x, start):
    angles = torch.arange(start, start + x.shape[-2])[:, None] * 10_000.0 ** (-torch.arange(K // 2) / (K // 2))
    cosines, sines = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
    left, right = x.chunk(2, -1)
    return x * cosines + torch.cat([-right, left], -1) * sines


def heads(x, w):
    """[..., T, D] to [..., H, T, K]"""
    y = x @ w.T
    return y.view(*y.shape[:-1], H, K).transpose(-2, -3)


def joined(x):
    return x.transpose(-2, -3).flatten(-2)


def feed(x, found, layer):
    x = x + found @ layer["o"].T
    y = norm(x, layer["second"])
    return x + (F.silu(y @ layer["gate"].T) * (y @ layer["up"].T)) @ layer["down"].T


def shared(prompts, inputs):
    """Prompts [B, P] once, completions [B, G, C] after them: hidden states [B, G, C, D]."""
    B = prompts.shape[0]
    p, c = table[prompts], table[inputs]
    causal = torch.full((C, C), float("-inf")).triu(1)
    for index, layer in enumerate(layers):
        normed, own = norm(p, layer["first"]), norm(c, layer["first"])
        keys, values = rotate(heads(normed, layer["k"]), 0), heads(normed, layer["v"])
        own_keys, own_values = rotate(heads(own, layer["k"]), P), heads(own, layer["v"])
        queries = rotate(heads(own, layer["q"]), P) / K**0.5
        to_prompt = torch.einsum("bghck,bhpk->bghcp", queries, keys)
        to_own = torch.einsum("bghck,bghsk->bghcs", queries, own_keys) + causal
        shares = torch.cat([to_prompt, to_own], -1).softmax(-1)
        found = torch.einsum("bghcp,bhpk->bghck", shares[..., :P], values)
        found = found + torch.einsum("bghcs,bghsk->bghck", shares[..., P:], own_values)
        c = feed(c, joined(found), layer)
        if index < L - 1:
            seen = F.scaled_dot_product_attention(rotate(heads(normed, layer["q"]), 0), keys, values, is_causal=True)
            p = feed(p, joined(seen), layer)
    return norm(c, final)


def repeated(tokens):
    """[N, P + C], everything computed for each: hidden states of the completions."""
    x = table[tokens]
    for layer in layers:
        normed = norm(x, layer["first"])
        found = F.scaled_dot_product_attention(
            rotate(heads(normed, layer["q"]), 0), rotate(heads(normed, layer["k"]), 0), heads(normed, layer["v"]), is_causal=True
        )
        x = feed(x, joined(found), layer)
    return norm(x, final)[:, P:]


def learn(hidden, targets, before):
    log_probs = (hidden @ table.T).log_softmax(-1).gather(-1, targets[..., None])[..., 0]
    ratios = (log_probs - before).exp()
    loss = -torch.minimum(ratios * 0.5, ratios.clamp(0.8, 1.2) * 0.5).sum()
    loss.backward()
    return loss


groups = [
    (torch.randint(V, (1, P)), torch.randint(V, (1, G, C)), torch.randint(V, (1, G, C))) for _ in range(options.groups)
]
before = torch.full((1, G, C), -7.0)


def step():
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
    optimizer.zero_grad()


def run_shared():
    for prompts, inputs, targets in groups:
        learn(shared(prompts, inputs), targets, before)
    step()


def run_repeated():
    for prompts, inputs, targets in groups:
        tokens = torch.cat([prompts.expand(G, P), inputs[0]], -1)
        learn(repeated(tokens), targets[0], before[0])
    step()


def wait():
    if options.device == "cuda":
        torch.cuda.synchronize()


def measure(run):
    run()
    wait()
    start, cpu = time.perf_counter(), time.process_time()
    for _ in range(options.passes):
        run()
    wait()
    learned = options.passes * options.groups * G * C
    return {
        "completion tokens per second": round(learned / (time.perf_counter() - start)),
        "completion tokens per second of a processor": round(learned / (time.process_time() - cpu)),
    }


def product(rows, inner, columns):
    """Billion operations per second of a product of matrices."""
    left, right, result = torch.randn(rows, inner), torch.randn(inner, columns), torch.empty(rows, columns)
    best = 0
    for _ in range(40):
        start = time.perf_counter()
        torch.mm(left, right, out=result)
        best = max(best, 2 * rows * inner * columns / (time.perf_counter() - start) / 1e9)
    return round(best, 1)


results = {"size": options.size, "threads": options.threads, "groups": options.groups, "torch": torch.__version__}
results |= {"product, billion operations per second": product(G * C, D, FF)}
results |= {"shared": measure(run_shared), "repeated": measure(run_repeated), "load": os.getloadavg()}
print(json.dumps(results))
