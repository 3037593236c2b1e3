"""List tools, call one, send arguments in pieces, cancel a call, and watch a call."""

import uuid

from toolhost.client import Client, Outcome, Status
from toolhost.errors import Cancelled

call_id = f"report-{uuid.uuid4()}"

with Client() as toolhost:  # at TOOLHOST_ADDR, else the toolhost of this user
    for tool in toolhost.list_tools():
        print("tool:", tool.name)

    # An infrastructure error raises. A failure that the tool reports is a result with is_error.
    print("call:", toolhost.call("forecast", {"city": "Lagos", "days": 2}).text)

    # The call id makes it possible to watch the call later.
    with toolhost.open("report", '{"text":"Sun', complete=False, call_id=call_id) as execution:
        for event in execution:
            if isinstance(event.payload, Status):
                print("stream:", event.payload.message)
                execution.send('.","stations":2}', complete=True)
                break
        print("stream:", execution.outcome().text)

    with toolhost.open("report", {"text": "Fog.", "stations": 1000}) as execution:
        next(event for event in execution if isinstance(event.payload, Status))
        execution.cancel("the fog has lifted")
        try:
            execution.outcome()
        except Cancelled as error:
            print("cancel:", error.kind.value)

    # The events of a call, which may be running, and which another program may have made.
    for event in toolhost.watch_call(call_id):
        if isinstance(event.payload, Status) and event.payload.progress:
            print(f"watch: {event.payload.progress.done:g} of {event.payload.progress.total:g}")
        if isinstance(event.payload, Outcome):
            print("watch:", event.payload.text)
