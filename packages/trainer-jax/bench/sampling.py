"""The sampling of sampling.ts in PyTorch: prompts computed once for their completions, keys and values kept.

    python3 packages/trainer-jax/bench/sampling.py [--size 128x3] [--threads 1] [--prompts 8] [--together 8]
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
arguments.add_argument("--prompt", type=int, default=200)
arguments.add_argument("--prompts", type=int, default=8)
arguments.add_argument("--tokens", type=int, default=48)
arguments.add_argument("--vocabulary", type=int, default=1000)
arguments.add_argument("--together", type=int, default=8, help="prompts whose completions are computed in one batch")
options = arguments.parse_args()

D, L = map(int, options.size.split("x"))
H, V = D // 32, options.vocabulary
K = 32
FF = 512 if D == 192 else 2 * D
P, G, S = options.prompt - 1, 16, options.tokens
torch.set_num_threads(options.threads)
torch.set_default_device(options.device)
torch.manual_seed(0)


def weight(*shape):
    return torch.randn(*shape) * 0.55 / shape[-1] ** 0.5


table = weight(V, D)
layers = [
    {
        **{name: weight(D, D) for name in "qkvo"},
        "gate": weight(FF, D),
        "up": weight(FF, D),
        "down": weight(D, FF),
        "first": torch.ones(D),
        "second": torch.ones(D),
    }
    for _ in range(L)
]
final = torch.ones(D)


def norm(x, scale):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * scale


angles = torch.arange(P + S)[:, None] * 10_000.0 ** (-torch.arange(K // 2) / (K // 2))
cosines, sines = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)


def rotate(x, start):
    """[..., T, K] at the positions from `start` on."""
    T = x.shape[-2]
    left, right = x.chunk(2, -1)
    return x * cosines[start : start + T] + torch.cat([-right, left], -1) * sines[start : start + T]


def heads(x, w):
    """[..., T, D] to [..., H, T, K]"""
    y = x @ w.T
    return y.view(*y.shape[:-1], H, K).transpose(-2, -3)


def feed(x, found, layer):
    x = x + found @ layer["o"].T
    y = norm(x, layer["second"])
    return x + (F.silu(y @ layer["gate"].T) * (y @ layer["up"].T)) @ layer["down"].T


def prefill(prompts):
    """[B, P] to keys and values [B, H, P, K] of each layer."""
    x, kept = table[prompts], []
    for index, layer in enumerate(layers):
        y = norm(x, layer["first"])
        keys, values = rotate(heads(y, layer["k"]), 0), heads(y, layer["v"])
        kept.append((keys, values))
        if index == L - 1:
            break
        found = F.scaled_dot_product_attention(rotate(heads(y, layer["q"]), 0), keys, values, is_causal=True)
        x = feed(x, found.transpose(-2, -3).flatten(-2), layer)
    return kept


def decode(tokens, place, prompt, own):
    """The logits behind [B, G] tokens; their keys and values are written at `place` of `own`."""
    B = tokens.shape[0]
    x = table[tokens]
    for layer, (keys, values), (own_keys, own_values) in zip(layers, prompt, own):
        y = norm(x, layer["first"])

        def turned(w):
            # [B, G, D] to [B, H, G, K], all at the same position
            return rotate(heads(y, w).unsqueeze(-2), P + place).squeeze(-2)

        own_keys[:, :, :, place] = turned(layer["k"])
        own_values[:, :, :, place] = heads(y, layer["v"])
        q = turned(layer["q"]) / K**0.5
        seen_keys, seen_values = own_keys[:, :, :, : place + 1], own_values[:, :, :, : place + 1]
        to_own = (seen_keys @ q[..., None]).squeeze(-1)
        shares = torch.cat([q @ keys.transpose(-1, -2), to_own], -1).softmax(-1)
        found = shares[..., :P] @ values + (shares[..., None, P:] @ seen_values).squeeze(-2)
        x = feed(x, found.transpose(1, 2).reshape(B, G, D), layer)
    return norm(x, final) @ table.T


@torch.inference_mode()
def sample(prompts):
    B = prompts.shape[0]
    known = prefill(prompts[:, :-1])
    own = [(torch.zeros(B, H, G, S, K), torch.zeros(B, H, G, S, K)) for _ in range(L)]
    tokens = prompts[:, -1:].expand(B, G)
    found = []
    for place in range(S):
        log_probs = decode(tokens, place, known, own).log_softmax(-1)
        tokens = torch.multinomial(log_probs.exp().view(-1, V), 1).view(B, G)
        found.append((tokens, log_probs.gather(-1, tokens[..., None])))
    return found


def run():
    for start in range(0, options.prompts, options.together):
        sample(torch.randint(250, (min(options.together, options.prompts - start), options.prompt)))


def wait():
    if options.device == "cuda":
        torch.cuda.synchronize()


run()
wait()
start, cpu = time.perf_counter(), time.process_time()
for _ in range(3):
    run()
wait()
sampled = 3 * options.prompts * G * S
results = {
    "size": options.size,
    "threads": options.threads,
    "together": options.together,
    "torch": torch.__version__,
    "tokens per second": round(sampled / (time.perf_counter() - start)),
    "tokens per second of a processor": round(sampled / (time.process_time() - cpu)),
    "load": os.getloadavg(),
}
print(json.dumps(results))
