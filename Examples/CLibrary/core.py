import sys

from sharedcore import CoreContext, Executor, Group, Message, StopRequest


class MailCore:
    def start(self, context: CoreContext) -> None:
        # Connects here, and has a thread receive. What it delivers is stored for the participants that ask.
        context.deliver(Message("call-7", sender="ann", text="hello"))

    def stop(self, request: StopRequest) -> None:
        print("stopping:", request.reason)


with Group(sys.argv[1], role="executor") as group, Executor(group, MailCore) as executor:
    result = executor.message("call-7", timeout=20)
    if result.message:
        print(result.message.sender, result.message.text)
        result.acknowledge()
    executor.finish()
