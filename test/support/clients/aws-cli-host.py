"""Runs commands of the AWS CLI in copies of a process that has loaded it: test/support/clients/aws-cli.ts says why.

`python3 aws-cli-host.py SOCKET` prints the version as `aws --version` does, and listens. Each connection brings one command, as a line of
JSON, and takes the exit code away. It ends with its standard input.
"""

import json
import os
import select
import signal
import socket
import sys

import awscli.clidriver
import awscli.handlers  # noqa: F401 (the CLI loads it for every command)


def run(command):
    """What the program `aws` does, with the streams, the environment and the folder of a process of its own."""
    for descriptor, (path, flags) in enumerate(
        [
            (os.devnull, os.O_RDONLY),
            (command["stdout"], os.O_WRONLY | os.O_CREAT | os.O_APPEND),
            (command["stderr"], os.O_WRONLY | os.O_CREAT | os.O_APPEND),
        ]
    ):
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    # Set when the CLI is loaded.
    data_path = os.environ.get("AWS_DATA_PATH")
    os.environ.clear()
    os.environ.update(command["env"])
    if data_path is not None:
        os.environ["AWS_DATA_PATH"] = data_path
    os.chdir(command["cwd"])
    sys.argv = ["aws", *command["args"]]
    try:
        code = awscli.clidriver.main()
    except SystemExit as end:
        code = end.code
    sys.stdout.flush()
    sys.stderr.flush()
    return 0 if code is None else code


server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen(16)
# Whoever asked learns of the end by the connection.
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print(f"aws-cli/{awscli.__version__}", flush=True)
while True:
    ready, _, _ = select.select([server, sys.stdin], [], [])
    if server not in ready:
        sys.exit()
    connection, _ = server.accept()
    if os.fork() == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        server.close()
        with connection.makefile("rw") as lines:
            code = run(json.loads(lines.readline()))
            lines.write(str(code))
        os._exit(0)
    connection.close()
