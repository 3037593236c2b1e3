"""Follow the events of a call, and send its arguments in pieces."""

from toolhost.client import Client, Outcome, Status

with Client() as toolhost, toolhost.open("draft", '{"text":"Dear', complete=False) as execution:
    for event in execution:
        match event.payload:
            case Status(parameters={"text": text}):
                print("preview:", text)
                execution.send(' Ada"}', complete=True)
                break
            case _:
                pass  # another event, such as Started
    outcome: Outcome = execution.outcome()
    print("outcome:", outcome.value["text"])

# Output:
# preview: Dear
# outcome: Dear Ada
