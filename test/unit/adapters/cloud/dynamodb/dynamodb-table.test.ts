import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { DynamoDbTable } from '../../../../../shared/adapters/cloud/dynamodb/dynamodb-table.ts';
import { type Change, type Condition, TableBusy } from '../../../../../shared/ports/key-value-table.ts';
import {
  type Answer,
  answered,
  cancelled,
  conditionFailed,
  failed,
  reset,
  ScriptedDynamoDb,
  timedOut,
  unreachable,
} from './scripted-dynamodb.ts';

const key = { pk: 'p', sk: 's' };
const other = { pk: 'p', sk: 'other' };
const stored = (sk: string, r: string) => ({ pk: { S: 'p' }, sk: { S: sk }, r: { S: r } });
const put: Change = { key, put: { r: 'mine' }, expect: { is: 'equal', attribute: 'r', value: 'before' } };
const remove: Change = { key, delete: true, expect: { is: 'equal', attribute: 'r', value: 'before' } };
const pair: Change[] = [put, { key: other, put: { r: 'also mine' }, expect: { is: 'absent' } }];

function scripted(...answers: Answer[]) {
  const engine = new ScriptedDynamoDb(...answers);
  const retries = { attempts: 4, pause: 1, patience: 10_000 };
  return { engine, table: new DynamoDbTable({ tableName: 't', client: engine.client, retries }) };
}

const tokensOf = (engine: ScriptedDynamoDb) => engine.requests.map(({ body }) => body['ClientRequestToken']);

describe('a single conditional write', () => {
  it('is one PutItem that asks for the old item, also when refused', async () => {
    const { engine, table } = scripted(answered({ Attributes: stored('s', 'before') }));
    expect(await table.write([put])).toEqual({ outcome: 'written', old: [{ r: 'before' }] });
    expect(engine.requests).toEqual([
      {
        operation: 'PutItem',
        body: {
          TableName: 't',
          Item: stored('s', 'mine'),
          ConditionExpression: '#n0 = :v0',
          ExpressionAttributeNames: { '#n0': 'r' },
          ExpressionAttributeValues: { ':v0': { S: 'before' } },
          ReturnValues: 'ALL_OLD',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      },
    ]);
  });

  it('tells a conflict with the item that is in the way', async () => {
    const { table } = scripted(conditionFailed(stored('s', 'theirs')));
    expect(await table.write([put])).toEqual({ outcome: 'conflict', failed: [{ key, item: { r: 'theirs' } }] });
  });

  it('tells a conflict with an item that is not there', async () => {
    const { table } = scripted(conditionFailed());
    expect(await table.write([remove])).toEqual({ outcome: 'conflict', failed: [{ key, item: undefined }] });
  });

  it.each([
    ['a time-out', timedOut()],
    ['a broken connection', reset()],
    ['an internal error', failed('InternalServerError', 500)],
    ['no service', failed('ServiceUnavailable', 503)],
  ])('was written if its token is found after %s, and is never sent again', async (_, lost) => {
    const { engine, table } = scripted(lost, answered({ Item: stored('s', 'mine') }));
    expect(await table.write([put])).toEqual({ outcome: 'written', old: [] });
    expect(engine.operations).toEqual(['PutItem', 'GetItem']);
    expect(engine.requests[1]?.body).toMatchObject({ ConsistentRead: true });
  });

  it.each([
    ['the item is as before', { Item: stored('s', 'before') }],
    ['the item is another', { Item: stored('s', 'theirs') }],
    ['there is no item', {}],
  ])('is unknown after a time-out when %s', async (_, found) => {
    const { engine, table } = scripted(timedOut(), answered(found));
    expect(await table.write([put])).toEqual({ outcome: 'unknown' });
    expect(engine.operations).toEqual(['PutItem', 'GetItem']);
  });

  it('is unknown after a time-out when the engine does not answer the look back either', async () => {
    const { table } = scripted(timedOut(), timedOut(), timedOut(), timedOut(), timedOut());
    expect(await table.write([put])).toEqual({ outcome: 'unknown' });
  });

  it('is unknown after a time-out when it has no token to look for', async () => {
    const withoutToken: Change = { key, put: { a: 1 }, expect: { is: 'absent' } };
    for (const change of [remove, withoutToken]) {
      const { engine, table } = scripted(timedOut());
      expect(await table.write([change])).toEqual({ outcome: 'unknown' });
      expect(engine.requests).toHaveLength(1);
    }
  });

  it.each(['ThrottlingException', 'ProvisionedThroughputExceededException', 'TransactionConflictException'])(
    'is sent again after %s, which changed nothing',
    async (refusal) => {
      const { engine, table } = scripted(failed(refusal), failed(refusal), answered());
      expect(await table.write([put])).toEqual({ outcome: 'written', old: [undefined] });
      expect(engine.operations).toEqual(['PutItem', 'PutItem', 'PutItem']);
    },
  );

  it('conflicts if the retry after a refusal finds its condition failed', async () => {
    const { table } = scripted(failed('ThrottlingException'), conditionFailed(stored('s', 'theirs')));
    expect(await table.write([put])).toMatchObject({ outcome: 'conflict' });
  });

  it.each([
    ['it is throttled', () => failed('ThrottlingException')],
    ['nothing listens', unreachable],
  ])('ends as TableBusy when %s for ever', async (_, refusal) => {
    const { engine, table } = scripted(refusal(), refusal(), refusal(), refusal());
    await expect(table.write([put])).rejects.toBeInstanceOf(TableBusy);
    expect(engine.requests).toHaveLength(4);
  });

  it('passes on what no retry can mend', async () => {
    const { engine, table } = scripted(failed('ValidationException'));
    await expect(table.write([put])).rejects.toMatchObject({ name: 'ValidationException' });
    expect(engine.requests).toHaveLength(1);
  });
});

describe('a single write without expectation', () => {
  it('is sent again when its answer is lost, and then cannot say what it replaced', async () => {
    for (const change of [
      { key, put: { a: 1 } },
      { key, delete: true },
    ] as const) {
      const { engine, table } = scripted(reset(), answered({ Attributes: stored('s', 'whose?') }));
      expect(await table.write([change])).toEqual({ outcome: 'written', old: [] });
      expect(engine.requests).toHaveLength(2);
    }
  });

  it('is unknown when the answer is lost every time', async () => {
    const { table } = scripted(reset(), reset(), failed('ThrottlingException'), timedOut());
    expect(await table.write([{ key, put: { a: 1 } }])).toEqual({ outcome: 'unknown' });
  });
});

describe('a transaction', () => {
  it('asks for the item of every expectation that fails', async () => {
    const checked: Condition = { key: { pk: 'q', sk: 's' }, expect: { is: 'present' } };
    const { engine, table } = scripted(answered());
    expect(await table.write([put, { key: other, delete: true }], [checked])).toEqual({ outcome: 'written', old: [] });
    expect(engine.requests[0]).toMatchObject({
      operation: 'TransactWriteItems',
      body: {
        ClientRequestToken: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        TransactItems: [
          { Put: { TableName: 't', Item: stored('s', 'mine'), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } },
          { Delete: { TableName: 't', Key: { pk: { S: 'p' }, sk: { S: 'other' } } } },
          {
            ConditionCheck: {
              TableName: 't',
              Key: { pk: { S: 'q' }, sk: { S: 's' } },
              ConditionExpression: 'attribute_exists(#n0)',
              ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            },
          },
        ],
      },
    });
  });

  it('may consist of conditions alone', async () => {
    const { engine, table } = scripted(cancelled({ Code: 'ConditionalCheckFailed', Item: stored('s', 'x') }));
    const condition: Condition = { key, expect: { is: 'absent' } };
    expect(await table.write([], [condition])).toEqual({ outcome: 'conflict', failed: [{ key, item: { r: 'x' } }] });
    expect(engine.operations).toEqual(['TransactWriteItems']);
    await expect(table.write([], [condition, condition])).rejects.toThrow(TypeError);
  });

  it('merges a condition on a changed item into the change', async () => {
    const { engine, table } = scripted(answered());
    await table.write([put], [{ key: { ...key }, expect: { is: 'missing', attribute: 'v' } }]);
    expect(engine.requests[0]).toMatchObject({
      operation: 'PutItem',
      body: { ConditionExpression: '(#n0 = :v0 AND attribute_not_exists(#n1))' },
    });
  });

  it.each([0, 1, 2])('names the item whose expectation failed, at position %i', async (position) => {
    const checked: Condition = { key: { pk: 'q', sk: 's' }, expect: { is: 'present' } };
    const reasons = [0, 1, 2].map((at) =>
      at === position ? { Code: 'ConditionalCheckFailed', Item: stored('x', 'theirs') } : 'None',
    );
    const { table } = scripted(cancelled(...reasons));
    expect(await table.write(pair, [checked])).toEqual({
      outcome: 'conflict',
      failed: [{ key: [key, other, checked.key][position], item: { r: 'theirs' } }],
    });
  });

  it('names all that failed, and a failed expectation outweighs a race', async () => {
    const failure = 'ConditionalCheckFailed';
    const { engine, table } = scripted(cancelled(failure, 'TransactionConflict', failure));
    const checked: Condition = { key: { pk: 'q', sk: 's' }, expect: { is: 'present' } };
    expect(await table.write(pair, [checked])).toEqual({
      outcome: 'conflict',
      failed: [
        { key, item: undefined },
        { key: checked.key, item: undefined },
      ],
    });
    expect(engine.requests).toHaveLength(1);
  });

  it.each([
    [cancelled('TransactionConflict', 'None')],
    [cancelled('None', 'ThrottlingError')],
    [cancelled('ProvisionedThroughputExceeded', 'TransactionConflict')],
    [failed('ThrottlingException')],
  ])('is sent again, as another transaction, after a refusal', async (refusal) => {
    const { engine, table } = scripted(refusal, answered());
    expect(await table.write(pair)).toEqual({ outcome: 'written', old: [] });
    const [first, second] = tokensOf(engine);
    expect(second).not.toBe(first);
  });

  it('ends as TableBusy when others are always in the way', async () => {
    const race = () => cancelled('TransactionConflict', 'None');
    const { table } = scripted(race(), race(), race(), race());
    await expect(table.write(pair)).rejects.toBeInstanceOf(TableBusy);
  });

  it('passes on a cancellation that no retry can mend', async () => {
    const { table } = scripted(cancelled('None', 'ValidationError'));
    await expect(table.write(pair)).rejects.toMatchObject({ name: 'TransactionCanceledException' });
  });

  it('is sent again under the same token when its answer is lost, through refusals too', async () => {
    const { engine, table } = scripted(timedOut(), failed('TransactionInProgressException'), answered());
    expect(await table.write(pair)).toEqual({ outcome: 'written', old: [] });
    expect(new Set(tokensOf(engine)).size).toBe(1);
  });

  it('was written if, after a lost answer, the conflict is with itself', async () => {
    // An engine that has forgotten the token, or the first attempt overtaken by the second.
    const { engine, table } = scripted(
      reset(),
      cancelled('ConditionalCheckFailed', 'None'),
      answered({ Item: stored('s', 'mine') }),
    );
    expect(await table.write(pair)).toEqual({ outcome: 'written', old: [] });
    expect(engine.operations).toEqual(['TransactWriteItems', 'TransactWriteItems', 'GetItem']);
  });

  it('is unknown if, after a lost answer, there is a conflict and no trace of it', async () => {
    const { table } = scripted(
      reset(),
      cancelled('ConditionalCheckFailed', 'None'),
      answered({ Item: stored('s', 'theirs') }),
      answered(),
    );
    expect(await table.write(pair)).toEqual({ outcome: 'unknown' });
  });

  it('looks for every token when the answer is lost each time', async () => {
    const lost = [timedOut(), timedOut(), timedOut(), timedOut()];
    const { table } = scripted(
      ...lost,
      answered({ Item: stored('s', 'a later one') }),
      answered({ Item: stored('other', 'also mine') }),
    );
    expect(await table.write(pair)).toEqual({ outcome: 'written', old: [] });
  });
});

describe('reads', () => {
  it('are sent again until they are answered', async () => {
    const { table } = scripted(
      timedOut(),
      failed('InternalServerError', 500),
      failed('ThrottlingException'),
      answered({ Item: stored('s', 'x') }),
    );
    expect(await table.get(key)).toEqual({ r: 'x' });
  });

  it('together are sent again when a transaction is in the way', async () => {
    const { table } = scripted(
      cancelled('None', 'TransactionConflict'),
      answered({ Responses: [{}, { Item: stored('other', 'y') }] }),
    );
    expect(await table.getTogether([key, other])).toEqual([undefined, { r: 'y' }]);
  });

  it('end as TableBusy', async () => {
    const { table } = scripted(timedOut(), timedOut(), timedOut(), timedOut());
    await expect(table.query('p')).rejects.toBeInstanceOf(TableBusy);
  });

  it('never ask for a range that is empty', async () => {
    const { engine, table } = scripted();
    expect(await table.query('p', { prefix: 'a', after: 'b' })).toEqual({ items: [], more: false });
    expect(engine.requests).toEqual([]);
  });

  it.each([
    [{}, true],
    [{ mayBeStale: true }, false],
  ])('of a range with %j are strongly consistent: %s', async (options, consistent) => {
    const { engine, table } = scripted(answered({ Items: [] }));
    await table.query('p', options);
    expect(engine.requests[0]?.body).toMatchObject({ ConsistentRead: consistent });
  });

  it('go on when a page held nothing that was wanted', async () => {
    const { engine, table } = scripted(
      answered({ Items: [stored('a/', 'behind the prefix')], LastEvaluatedKey: { pk: { S: 'p' }, sk: { S: 'a/' } } }),
      answered({ Items: [stored('a.z', 'x')] }),
    );
    expect(await table.query('p', { prefix: 'a.' })).toEqual({
      items: [{ key: { pk: 'p', sk: 'a.z' }, attributes: { r: 'x' } }],
      more: false,
    });
    expect(engine.requests[1]?.body['ExclusiveStartKey']).toEqual({ pk: { S: 'p' }, sk: { S: 'a/' } });
  });
});

describe('mistakes of the caller are thrown and nothing is sent', () => {
  it.each<[string, Change[]]>([
    ['nothing at all', []],
    ['two changes of one item', [put, remove]],
    ['a number that DynamoDB cannot hold', [{ key, put: { n: NaN } }]],
    ['such a number in a transaction', [put, { key: other, put: { n: 1e300 } }]],
  ])('%s', async (_, changes) => {
    const { engine, table } = scripted();
    await expect(table.write(changes)).rejects.toThrow();
    expect(engine.requests).toEqual([]);
  });
});

describe('a write that must end in time', () => {
  it('is given up when the next attempt would come too late, and nothing was written', async () => {
    const { engine, table } = scripted(failed('ThrottlingException'), answered());
    // Every pause is longer than a millionth of a millisecond.
    await expect(table.write([put], [], { within: 1e-6 })).rejects.toBeInstanceOf(TableBusy);
    expect(engine.requests).toHaveLength(1);
  });

  it('is sent again as often as ever before that', async () => {
    const { engine, table } = scripted(failed('ThrottlingException'), failed('ThrottlingException'), answered());
    expect(await table.write([put], [], { within: 60_000 })).toMatchObject({ outcome: 'written' });
    expect(engine.requests).toHaveLength(3);
  });
});

describe('over a real connection', () => {
  it.each<[string, (response: ServerResponse) => void]>([
    ['is never answered', () => undefined],
    ['breaks', (response) => response.destroy()],
    ['breaks in the middle of the answer', (response) => response.writeHead(200).write('{', () => response.destroy())],
  ])('finds out that it wrote when the call %s', async (_, treatWrite) => {
    const server = createServer((request, response) => {
      if (request.headers['x-amz-target'] === 'DynamoDB_20120810.PutItem') return treatWrite(response);
      response
        .setHeader('content-type', 'application/x-amz-json-1.0')
        .end(JSON.stringify({ Item: stored('s', 'mine') }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    const client = { region: 'us-east-1', endpoint: `http://127.0.0.1:${port}`, credentials };
    const table = new DynamoDbTable({ tableName: 't', client });
    expect(await table.write([put])).toEqual({ outcome: 'written', old: [] });
    await table.close();
    server.closeAllConnections();
    server.close();
  });

  it('does not wait for an answer beyond the time in which a write must end, and does not send it again then', async () => {
    let sent = 0;
    const server = createServer(() => (sent += 1)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    const client = { region: 'us-east-1', endpoint: `http://127.0.0.1:${port}`, credentials };
    const retries = { attempts: 4, pause: 1, patience: 60_000 };
    const table = new DynamoDbTable({ tableName: 't', client, retries, callTimeout: 400 });
    // A transaction may be sent again: without an end, four times.
    const untokened = pair.map((change) => ({ ...change, put: {} }));
    expect(await table.write(untokened, [], { within: 600 })).toEqual({ outcome: 'unknown' });
    expect(sent).toBeLessThanOrEqual(2);
    await table.close();
    server.closeAllConnections();
    server.close();
  });
});
