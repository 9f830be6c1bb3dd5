/** The Python program that communicates with a verifiers environment. It is run with `-c` and exchanges JSON lines. */
export const bridge = `
import asyncio, itertools, json, os, sys

answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

def say(**answer):
    answers.write(json.dumps(answer) + "\\n")
    answers.flush()

def failed(reason, error):
    say(error=reason, detail=f"{type(error).__name__}: {error}"[:2000])
    sys.exit(0)

asked = json.loads(sys.stdin.readline())
try:
    import verifiers.v1 as vf
    from verifiers.v1.graph import MessageNode
    from verifiers.v1.trace import TraceTask
    from verifiers.v1.utils.loaders import load_taskset, taskset_config_type
except ImportError as error:
    failed("package", error)

def text_of(content):
    if isinstance(content, str):
        return content
    return "\\n".join(getattr(part, "text", "") or "" for part in content or [])

def unsupported(task):
    data = task.data
    if data.prompt is None:
        return "it has no prompt"
    if task.NEEDS_CONTAINER or data.image is not None:
        return "it needs a container"
    if type(task).toolsets(task.config) or taskset_tools:
        return "it has tools"
    return None

def row_of(task):
    data = task.data
    prompt = data.prompt
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [
        {"role": message.role, "content": text_of(message.content)} for message in prompt or []
    ]
    if data.system_prompt:
        messages = [{"role": "system", "content": data.system_prompt}, *messages]
    return {"id": data.id or data.name or str(data.idx), "messages": messages, "unsupported": unsupported(task)}

try:
    config = taskset_config_type(asked["taskset"]).model_validate({**asked["config"], "id": asked["taskset"]})
    taskset = load_taskset(config)
    taskset_tools = type(taskset).toolsets(config)
    tasks = list(itertools.islice(taskset, asked["limit"]))
    for task in tasks:
        say(task=row_of(task))
    say(done=len(tasks))
except Exception as error:
    failed("environment", error)

kinds = {"system": vf.SystemMessage, "user": vf.UserMessage, "assistant": vf.AssistantMessage}

async def grade(request):
    task = tasks[request["task"]]
    nodes = []
    for message in row_of(task)["messages"]:
        parent = len(nodes) - 1 if nodes else None
        nodes.append(MessageNode(parent=parent, message=kinds[message["role"]](content=message["content"])))
    parent = len(nodes) - 1 if nodes else None
    nodes.append(MessageNode(parent=parent, message=vf.AssistantMessage(content=request["answer"]), sampled=True))
    trace = vf.Trace(
        task=TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash),
        agent=vf.AgentInfo(config=vf.AgentConfig(), name="divisi", trainable=False),
        nodes=nodes,
        is_completed=True,
        ok=True,
    )
    try:
        await task.score(trace, None)
        rewards = {name: None if r is None else [r.score, r.weight] for name, r in trace.rewards.items()}
        say(id=request["id"], rewards=rewards)
    except Exception as error:
        say(id=request["id"], failed=f"{type(error).__name__}: {error}"[:2000])

async def serve():
    running = set()
    while line := await asyncio.to_thread(sys.stdin.readline):
        job = asyncio.create_task(grade(json.loads(line)))
        running.add(job)
        job.add_done_callback(running.discard)

asyncio.run(serve())
`
