"""A hierad process on a tree."""

import contextlib
import http.client
import os
import socket
import subprocess
import threading
import time

START_SECONDS = 15


class Server:
    """One hierad on one code directory."""

    def __init__(self, binary, codedir, config, log, strict):
        self.port = free_port()
        command = [*binary, "serve", "--codedir", str(codedir), "--listen", f"127.0.0.1:{self.port}"]
        if config:
            command += ["--hiera-config", config]
        self.log = open(log, "wb")
        env = {k: v for k, v in os.environ.items() if not k.startswith("HIERAD_")}
        env["HIERAD_STRICT"] = strict
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, env=env)
        self.ready = self.wait()
        self.local = threading.local()

    def wait(self):
        """Wait until /readyz returns 200; a server that is alive but not ready after a while is used anyway."""
        end = time.monotonic() + START_SECONDS
        alive_since = None
        pause = 0.005
        while time.monotonic() < end:
            if self.process.poll() is not None:
                return False
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
                connection.request("GET", "/readyz")
                status = connection.getresponse().status
                connection.close()
                if status == 200:
                    return True
                alive_since = alive_since or time.monotonic()
                if time.monotonic() - alive_since > 3:
                    return False
            time.sleep(pause)
            pause = min(pause * 1.5, 0.1)
        return False

    def send(self, method, path, body=None, accept="application/json"):
        headers = {"Accept": accept}
        if body is not None:
            headers["Content-Type"] = "application/json"
        for attempt in (1, 2):
            connection = getattr(self.local, "connection", None)
            if connection is None:
                connection = self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            try:
                connection.request(method, path, body=body, headers=headers)
                response = connection.getresponse()
                raw = response.read()
                return response.status, response.headers.get_content_type(), raw
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                self.local.connection = None
                if attempt == 2:
                    return 0, "", str(error).encode()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def start(binary, root, config, strict="warning"):
    """A server on the tree that answers like Puppet 7, or with `error` like Puppet 8.

    Started a second time if it ends immediately, since its port may have been taken.
    """
    for _ in range(2):
        server = Server(binary, root / "code", config, root / "hierad.log", strict)
        if server.process.poll() is None:
            break
        server.stop()
    return server


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
