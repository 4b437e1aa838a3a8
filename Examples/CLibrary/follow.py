import asyncio
import sys

from sharedcore import aio


async def main() -> None:
    async with await aio.Group.open(sys.argv[1]) as group:
        with await group.watch("greetings", snapshot=False) as watch:
            await group.put("greetings/python", b"hello")
            async for event in watch:
                for change in event.changes:
                    if change.new:
                        print(change.key, change.new.value.decode())
                break


asyncio.run(main())
