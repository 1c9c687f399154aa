"""Agents over NVFlare: the sites' own session, with the server as its post office.

``Site`` is an executor that holds a ``hearsay.Agent``; ``PostOffice`` is a controller that hands their frames over. The
agents' network is the complete graph, in which one round of gossip is the exact sum, so that a run takes as few rounds
as there can be; the server adds up nothing, and a frame that it changed would end the run at all sites. All end with
the digest of ``hearsay.DecentralizedPCA(topology="complete")`` for the same rows, in the order of the sites' names.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from nvflare.apis.controller_spec import Task, TaskCompletionStatus
from nvflare.apis.executor import Executor
from nvflare.apis.fl_constant import FLContextKey, ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.apis.impl.controller import Controller
from nvflare.apis.shareable import Shareable, make_reply
from nvflare.apis.signal import Signal

import hearsay

TASK = "hearsay"


class Site(Executor):
    """``data`` is a .npy file, with {site} for the site's name; ``settings`` are keywords of ``hearsay.Agent``."""

    def __init__(self, data: str, components: str = "", settings: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.data, self.components, self.settings = data, components, settings
        self.agent: hearsay.Agent | None = None

    def execute(self, task_name: str, shareable: Shareable, fl_ctx: FLContext, abort_signal: Signal) -> Shareable:
        site = str(fl_ctx.get_prop(FLContextKey.CLIENT_NAME))
        sites = list(shareable["sites"])
        if self.agent is None:
            rows = np.load(self.data.format(site=site))
            self.agent = hearsay.Agent(rows, sites.index(site), sites, topology="complete", **(self.settings or {}))
        for sender, frame in shareable["frames"]:
            self.agent.receive(sender, frame)
        reply = make_reply(ReturnCode.OK)
        reply["frames"] = self.agent.frames()
        reply["done"] = self.agent.done
        if self.agent.done:
            self._finish(site, reply)
        return reply

    def _finish(self, site: str, reply: Shareable) -> None:
        try:
            result = self.agent.result()
        except hearsay.Error as error:
            reply["error"] = str(error)
        else:
            reply["digest"] = f"{result.digest:016x}"
            reply["summary"] = str(result.info)
            if self.components:
                np.save(self.components.format(site=site), result.components)
        self.agent.close()


class PostOffice(Controller):
    """Asks every site in turns, with the frames that have come for it, until all are done."""

    def __init__(self, timeout: int = 600) -> None:
        super().__init__()
        self.timeout = timeout
        self.answers: dict[str, Shareable] = {}

    def start_controller(self, fl_ctx: FLContext) -> None: ...

    def stop_controller(self, fl_ctx: FLContext) -> None: ...

    def control_flow(self, abort_signal: Signal, fl_ctx: FLContext) -> None:
        sites = sorted(client.name for client in self._engine.get_clients())
        boxes: dict[str, list[tuple[int, bytes]]] = {site: [] for site in sites}
        running = list(sites)
        while running and not abort_signal.triggered:
            posted, boxes = boxes, {site: [] for site in sites}
            if not self._deliver(running, sites, posted, fl_ctx, abort_signal):
                return
            for number, site in enumerate(sites):
                answer = self.answers.get(site, {})
                for neighbour, frame in answer.get("frames", ()) if site in running else ():
                    boxes[sites[neighbour]].append((number, frame))
            running = [site for site in running if not self.answers[site].get("done")]
        words = {site: self.answers[site].get("digest") or self.answers[site].get("error") for site in sites}
        self.log_info(fl_ctx, f"hearsay: {words}")

    def _deliver(
        self,
        running: list[str],
        sites: list[str],
        boxes: dict[str, list[tuple[int, bytes]]],
        fl_ctx: FLContext,
        abort_signal: Signal,
    ) -> bool:
        """One letter to each site that runs, and its answer."""

        def take(client_task: Any, fl_ctx: FLContext) -> None:
            self.answers[client_task.client.name] = client_task.result

        tasks = []
        for site in running:
            letter = Shareable()
            letter["sites"], letter["frames"] = sites, boxes[site]
            tasks.append(Task(TASK, letter, timeout=self.timeout, result_received_cb=take))
            self.send(tasks[-1], fl_ctx, targets=[site])
        while any(task.completion_status is None for task in tasks) and not abort_signal.triggered:
            time.sleep(0.02)
        for site, task in zip(running, tasks, strict=True):
            if (
                task.completion_status != TaskCompletionStatus.OK
                or self.answers[site].get_return_code() != ReturnCode.OK
            ):
                self.system_panic(f"hearsay: {site} did not answer", fl_ctx)
                return False
        return True

    def process_result_of_unknown_task(self, client: Any, *ignored: Any) -> None: ...
