"""A call id makes a call safe to repeat: toolhost executes it once and stores its outcome."""

import uuid

from toolhost.client import Client, Outcome
from toolhost.spec import Retry

call_id = f"order-{uuid.uuid4()}"
with Client(retry=Retry(max_attempts=3)) as toolhost:
    print(toolhost.call("echo", {"order": 7}, call_id=call_id).replayed)
    print(toolhost.call("echo", {"order": 7}, call_id=call_id).replayed)
    for event in toolhost.watch_call(call_id):
        if isinstance(event.payload, Outcome):
            print(event.payload.value)

# Output:
# False
# True
# {'order': 7}
