"""Read by Python before moto's server (PYTHONPATH of test/support/cloud/moto.ts), to have it answer in a time that does not grow with all that was written before.

Deployments under test have another engine for DynamoDB (test/support/cloud/dynamodb); the contract of the table runs over this one.

moto sorts the whole table for every query, and copies it for every item of a transaction, to have it back should the transaction fail. Here a
query looks at its partition, and a transaction remembers the items that it may change. Items are never changed in place
(nobody asks for UpdateItem), so they need no copies.

It also keeps every record of a stream for good, some kilobytes each, which in a run of all tests comes to gigabytes; and every iterator. DynamoDB
forgets records after a day; here, all but the last.
"""

import copy
import threading

try:
    from moto.dynamodb.models import DynamoDBBackend
    from moto.dynamodb.models.dynamo_type import Item
    from moto.dynamodb.models.table import StreamShard, Table
    from moto.dynamodbstreams.models import DynamoDBStreamsBackend
except ImportError:
    Table = None

# Nobody who follows a stream is ever so far behind.
records_kept = 20_000
iterators_kept = 1_000
# So many records may be taken back.
most_in_transaction = 100
absent = object()
# Whether this thread is in a transaction.
here = threading.local()


def query_partition(table, hash_key, *arguments, **named):
    if table.all_indexes():
        return query(table, hash_key, *arguments, **named)
    partition = copy.copy(table)
    partition.items = {hash_key: table.items.get(hash_key, {})}
    return query(partition, hash_key, *arguments, **named)


def get_without_a_trace(table, hash_key, *arguments, **named):
    """moto's own makes a partition of every key that is looked for."""
    return get_item(table, hash_key, *arguments, **named) if hash_key in table.items else None


def write_together(backend, operations):
    before = [state(backend, operation) for item in operations for operation in item.values()]
    lengths = {table: len(table.stream_shard.items) for table, *_ in before if table.stream_shard}
    here.inTransaction = True
    try:
        return transact_write_items(backend, operations)
    except Exception:
        for table, hash_key, range_key, item in before:
            if item is not absent:
                table.items[hash_key][range_key] = item
            elif hash_key in table.items:
                table.items[hash_key].pop(range_key, None)
        for table, length in lengths.items():
            del table.stream_shard.items[length:]
        raise
    finally:
        here.inTransaction = False


def state(backend, operation):
    """What there is under the key of an operation before it."""
    table = backend.get_table(operation["TableName"])
    hash_key, range_key = backend.get_keys_value(table, operation.get("Item") or operation["Key"])
    return table, hash_key, range_key, table.items.get(hash_key, {}).get(range_key, absent)


def copy_table(table, memo):
    """In a transaction, none: {@link write_together} puts back what it changed."""
    if getattr(here, "inTransaction", False):
        return table
    twin = copy.copy(table)
    memo[id(table)] = twin
    twin.items = copy.copy(table.items)
    for partition, items in table.items.items():
        twin.items[partition] = copy.copy(items)
    twin.stream_shard = copy.deepcopy(table.stream_shard, memo)
    return twin


class LatestIterators(dict):
    def __setitem__(self, arn, iterator):
        super().__setitem__(arn, iterator)
        if len(self) > iterators_kept:
            del self[next(iter(self))]


def add_record(shard, old, new):
    add(shard, old, new)
    forgotten = len(shard.items) - records_kept - most_in_transaction
    if forgotten > 0:
        shard.items[forgotten - 1] = None


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
    query, get_item = Table.query, Table.get_item
    Table.query, Table.get_item = query_partition, get_without_a_trace
    transact_write_items = DynamoDBBackend.transact_write_items
    DynamoDBBackend.transact_write_items = write_together
    Item.__deepcopy__ = lambda item, memo: item
    Table.__deepcopy__ = copy_table
    import quick_answers  # noqa: F401
