"""What a caller of toolhost does: list tools, make a call, bring one its arguments in pieces, cancel one, watch one."""

import uuid

from toolhost.client import Client, Outcome, Status
from toolhost.errors import Cancelled

call_id = f"report-{uuid.uuid4()}"

with Client() as toolhost:  # TOOLHOST_ADDR, else the toolhost of this user
    for tool in toolhost.list_tools():
        print("tool:", tool.name)

    # What the machinery fails with is raised; what the tool says went wrong is a result with is_error.
    print("call:", toolhost.call("forecast", {"city": "Lagos", "days": 2}).text)

    # The call has an id, so that it can be watched.
    with toolhost.open("report", '{"text":"Sun', complete=False, call_id=call_id) as execution:
        for event in execution:
            if isinstance(event.what, Status):
                print("stream:", event.what.tip)
                execution.send('.","stations":2}', complete=True)
                break
        print("stream:", execution.outcome().text)

    with toolhost.open("report", {"text": "Fog.", "stations": 1000}) as execution:
        next(event for event in execution if isinstance(event.what, Status))
        execution.cancel("the fog has lifted")
        try:
            execution.outcome()
        except Cancelled as error:
            print("cancel:", error.kind.value)

    # All that happened to a call, which may be another program's, and may still run.
    for event in toolhost.watch_call(call_id):
        if isinstance(event.what, Status) and event.what.progress:
            print(f"watch: {event.what.progress.done:g} of {event.what.progress.total:g}")
        if isinstance(event.what, Outcome):
            print("watch:", event.what.text)
