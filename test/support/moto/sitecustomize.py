"""Read by Python before moto's server (PYTHONPATH of test/support/moto.ts).

moto copies whole tables, item by item, before every transaction, to have them back should it fail. So a transaction takes
longer the more there is, seconds in the end. Items are never changed in place here (no UpdateItem), so their containers suffice.

It also keeps every iterator of a stream for good, and with it the copy of the stream that a failed transaction left behind; and every
record, some kilobytes each, which in a run of all tests comes to gigabytes. DynamoDB forgets records after a day; here, all but the last.
"""

import copy

try:
    from moto.dynamodb.models.table import StreamShard, Table
    from moto.dynamodbstreams.models import DynamoDBStreamsBackend
except ImportError:
    Table = None


def copy_table(table, memo):
    twin = copy.copy(table)
    memo[id(table)] = twin
    twin.items = copy.copy(table.items)
    for partition, items in table.items.items():
        twin.items[partition] = copy.copy(items)
    twin.stream_shard = copy.deepcopy(table.stream_shard, memo)
    return twin


def copy_stream(shard, memo):
    twin = copy.copy(shard)
    twin.table = copy.deepcopy(shard.table, memo)
    twin.items = list(shard.items)
    return twin


class LatestIterators(dict):
    def __setitem__(self, arn, iterator):
        super().__setitem__(arn, iterator)
        if len(self) > 100:
            del self[next(iter(self))]


# Nobody who follows a stream is ever so far behind.
records_kept = 20_000


def add_record(shard, old, new):
    add(shard, old, new)
    if len(shard.items) > records_kept:
        shard.items[len(shard.items) - records_kept - 1] = None


def get_records(shard, start, quantity):
    oldest = shard.starting_sequence_number + max(0, len(shard.items) - records_kept)
    return get(shard, max(start, oldest), quantity)


def start_streams(backend, *arguments, **named):
    start(backend, *arguments, **named)
    backend.shard_iterators = LatestIterators()


if Table is not None:
    start = DynamoDBStreamsBackend.__init__
    DynamoDBStreamsBackend.__init__ = start_streams
    add, get = StreamShard.add, StreamShard.get
    StreamShard.add, StreamShard.get = add_record, get_records
    Table.__deepcopy__ = copy_table
    StreamShard.__deepcopy__ = copy_stream
