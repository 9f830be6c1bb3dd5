"""The command line tool `llm` against a server, by a file of models of its own."""
import json
import os
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "extra-openai-models.yaml"), "w") as file:
        file.write(f"- model_id: divisi\n  model_name: divisi\n  api_base: {sys.argv[1]}\n  api_key_name: divisi\n")
    with open(os.path.join(folder, "keys.json"), "w") as file:
        json.dump({"divisi": "none"}, file)
    env = {**os.environ, "LLM_USER_PATH": folder}
    for options in ([], ["--no-stream"]):
        command = [sys.executable, "-m", "llm", "-m", "divisi", *options, "Say: hello"]
        said = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert said.stdout.strip() == "hello", said.stdout + said.stderr
