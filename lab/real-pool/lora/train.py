"""Trains a LoRA of SmolLM2-135M on plans: `train.py FOLDER`, with base.bin, base.json and data.json of lora.ts in it.

Only the factors of the attention's four matrices are trained; the dequantised base is frozen. One example is one step.
Writes the adapter in PEFT's format to FOLDER/peft, and one line of JSON per pass to the output.
"""
import json, os, sys, time
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from safetensors.numpy import save_file

folder = sys.argv[1]
index = json.load(open(f"{folder}/base.json"))
raw = np.memmap(f"{folder}/base.bin", dtype=np.float32, mode="r")
tensor = lambda name: raw[index[name]["start"]:][: int(np.prod(index[name]["shape"]))].reshape(index[name]["shape"])
L, D, H, KV, K, V = 30, 576, 9, 3, 64, 49152
RANK, ALPHA, T, C = 8, 16, 192, 32

def rows(w, heads):
    """GGUF stores the halves of a head's rows in turns; Hugging Face one after the other."""
    return w.reshape(heads, w.shape[0] // heads // 2, 2, w.shape[1]).swapaxes(1, 2).reshape(w.shape)

stack = lambda f: jnp.asarray(np.stack([f(i) for i in range(L)]))
base = {
    "n1": stack(lambda i: tensor(f"blk.{i}.attn_norm.weight")), "n2": stack(lambda i: tensor(f"blk.{i}.ffn_norm.weight")),
    "q": stack(lambda i: rows(tensor(f"blk.{i}.attn_q.weight"), H)), "k": stack(lambda i: rows(tensor(f"blk.{i}.attn_k.weight"), KV)),
    "v": stack(lambda i: tensor(f"blk.{i}.attn_v.weight")), "o": stack(lambda i: tensor(f"blk.{i}.attn_output.weight")),
    "g": stack(lambda i: tensor(f"blk.{i}.ffn_gate.weight")), "u": stack(lambda i: tensor(f"blk.{i}.ffn_up.weight")),
    "d": stack(lambda i: tensor(f"blk.{i}.ffn_down.weight")),
}
embedding, last = jnp.asarray(tensor("token_embd.weight")), jnp.asarray(tensor("output_norm.weight"))
names = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "o_proj"}
rng = np.random.default_rng(0)
lora = {}
for n in names:
    out, inn = base[n].shape[1:]
    lora[n + "a"] = jnp.asarray(rng.normal(0, 1 / np.sqrt(inn), (L, RANK, inn)).astype(np.float32))
    lora[n + "b"] = jnp.zeros((L, out, RANK), jnp.float32)

angle = np.arange(T)[:, None] * (100000.0 ** (-np.arange(K // 2) / (K // 2)))[None]
cos, sin = [jnp.asarray(np.concatenate([f(angle)] * 2, 1)[:, None].astype(np.float32)) for f in (np.cos, np.sin)]
rope = lambda x: x * cos + jnp.concatenate([-x[..., K // 2:], x[..., : K // 2]], -1) * sin
norm = lambda x, w: x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * w
mask = jnp.where(jnp.tril(jnp.ones((T, T), bool)), 0.0, -1e9)

def hidden(lora, base, embedding, tokens):
    def layer(x, both):
        w, f = both
        lin = lambda n, y: y @ w[n].T + (y @ f[n + "a"].T) @ f[n + "b"].T * (ALPHA / RANK)
        y = norm(x, w["n1"])
        q, k, v = rope(lin("q", y).reshape(T, H, K)), rope(lin("k", y).reshape(T, KV, K)), lin("v", y).reshape(T, KV, K)
        k, v = jnp.repeat(k, H // KV, 1), jnp.repeat(v, H // KV, 1)
        p = jax.nn.softmax(jnp.einsum("qhk,shk->hqs", q, k) / np.sqrt(K) + mask, -1)
        x = x + lin("o", jnp.einsum("hqs,shk->qhk", p, v).reshape(T, D))
        y = norm(x, w["n2"])
        return x + (jax.nn.silu(y @ w["g"].T) * (y @ w["u"].T)) @ w["d"].T, None
    x, _ = lax.scan(layer, embedding[tokens], (base, lora))
    return norm(x, last)

def loss(lora, base, embedding, tokens, start, length):
    h = lax.dynamic_slice(hidden(lora, base, embedding, tokens), (start - 1, 0), (C, D))
    want = lax.dynamic_slice(tokens, (start,), (C,))
    logs = jax.nn.log_softmax(h @ embedding.T)
    each = -jnp.take_along_axis(logs, want[:, None], 1)[:, 0]
    return jnp.sum(jnp.where(jnp.arange(C) < length, each, 0)) / length

value = jax.jit(loss)
grad = jax.jit(jax.value_and_grad(loss))

@jax.jit
def adam(p, m, v, g, t, rate):
    size = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(g)))
    g = jax.tree.map(lambda x: x * jnp.minimum(1, 1 / size), g)
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
    return jax.tree.map(lambda p, m, v: p - rate * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8), p, m, v), m, v

def padded(d):
    tokens = np.zeros(T, np.int32)
    all = d["prompt"] + d["completion"]
    tokens[: len(all)] = all
    return jnp.asarray(tokens), len(d["prompt"]), len(d["completion"])

data = json.load(open(f"{folder}/data.json"))
train, test = data["train"], data["test"]
passes, limit = int(os.environ.get("PASSES", 6)), float(os.environ.get("SECONDS", 1200))
began = time.time()
say = lambda **x: print(json.dumps({"s": round(time.time() - began, 1), "cpu": round(time.process_time(), 1), **x}), flush=True)
mean = lambda some: float(np.mean([value(lora, base, embedding, *padded(d)) for d in some]))
say(examples=len(train), held_out=len(test), longest=max(len(d["prompt"]) + len(d["completion"]) for d in train + test))
say(untrained=round(mean(test[:6]), 4))
m = jax.tree.map(jnp.zeros_like, lora); v = m; t = 0
for k in range(passes):
    order, losses = rng.permutation(len(train)), []
    for i in order:
        t += 1
        found, g = grad(lora, base, embedding, *padded(train[i]))
        lora, m, v = adam(lora, m, v, g, float(t), 1e-3 * min(1, t / 10))
        losses.append(float(found))
        if t <= 3: say(step=t, loss=round(losses[-1], 4))
        if time.time() - began > limit: break
    say(passed=k + 1, loss=round(float(np.mean(losses)), 4))
    os.makedirs(f"{folder}/peft", exist_ok=True)
    save_file({f"base_model.model.model.layers.{i}.self_attn.{names[n]}.lora_{s.upper()}.weight": np.array(lora[n + s][i])
               for n in names for s in "ab" for i in range(L)}, f"{folder}/peft/adapter_model.safetensors")
    json.dump({"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "target_modules": list(names.values()),
               "base_model_name_or_path": "SmolLM2-135M-Instruct"}, open(f"{folder}/peft/adapter_config.json", "w"))
    if time.time() - began > limit: break
say(trained=round(mean(test[:6]), 4))
