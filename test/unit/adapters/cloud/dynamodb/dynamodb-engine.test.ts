import { beforeEach, describe, expect, it } from 'vitest';
import { DynamoDbEngine } from '../../../../support/cloud/dynamodb/engine.ts';

/*
 * The refusals and the state of the stand-in for DynamoDB, according to the documentation of DynamoDB. test/contract/cloud.test.ts tests
 * the features that the adapter needs.
 */

type Answer = { readonly status: number; readonly content: Record<string, unknown> };

let engine: DynamoDbEngine;
beforeEach(() => {
  engine = new DynamoDbEngine();
  ask('CreateTable', { TableName: 'table', StreamSpecification: { StreamEnabled: true } });
});

function ask(call: string, input: object, service = 'DynamoDB'): Answer {
  const { status, body } = engine.answer(`${service}_20120810.${call}`, Buffer.from(JSON.stringify(input)));
  return { status, content: JSON.parse(body.toString()) as Record<string, unknown> };
}

const keyed = (sk: string, pk = 'p') => ({ pk: { S: pk }, sk: { S: sk } });
const put = (item: object, more: object = {}): Answer => ask('PutItem', { TableName: 'table', Item: item, ...more });
const query = (more: object): Answer =>
  ask('Query', {
    TableName: 'table',
    KeyConditionExpression: '#pk = :pk',
    ExpressionAttributeNames: { '#pk': 'pk' },
    ExpressionAttributeValues: { ':pk': { S: 'p' } },
    ...more,
  });

function expectRefusal({ status, content }: Answer, type: string, message: RegExp): void {
  expect(status).toBe(400);
  expect(content['__type']).toBe(`com.amazonaws.dynamodb.v20120810#${type}`);
  expect(content['message']).toMatch(message);
}

describe('an item', () => {
  it.each<[string, object, RegExp]>([
    ['without a sort key', { pk: { S: 'p' } }, /key sk/],
    ['with a key that is a number', { ...keyed('a'), sk: { N: '1' } }, /key sk/],
    ['with an empty key', keyed(''), /empty string/],
    ['with a partition key of 2,049 bytes', keyed('a', 'ä'.repeat(1025)), /2048 bytes/],
    ['with a sort key of 1,025 bytes', keyed('x'.repeat(1025)), /1024 bytes/],
    ['of more than 400 KB', { ...keyed('a'), text: { S: 'x'.repeat(400 * 1024) } }, /maximum allowed size/],
    ['with an empty set', { ...keyed('a'), set: { SS: [] } }, /may not be empty/],
    ['with a set of one value twice', { ...keyed('a'), set: { SS: ['a', 'a'] } }, /duplicates/],
    ['with a number of 39 digits', { ...keyed('a'), n: { N: '1'.repeat(39) } }, /38 significant digits/],
    ['with a number that is none', { ...keyed('a'), n: { N: 'one' } }, /numeric value/],
    ['with a number that is too large', { ...keyed('a'), n: { N: '1e126' } }, /overflow/],
    ['with a value of two types', { ...keyed('a'), n: { N: '1', S: '1' } }, /exactly one/],
  ])('is refused %s', (_, item, message) => {
    expectRefusal(put(item), 'ValidationException', message);
    expect(ask('Scan', { TableName: 'table' }).content).toMatchObject({ Count: 0 });
  });

  it('of another table is not found, nor is that table', () => {
    const missing = ask('GetItem', { TableName: 'other', Key: keyed('a') });
    expectRefusal(missing, 'ResourceNotFoundException', /other/);
  });
});

describe('an expression', () => {
  const conditional = (ConditionExpression: string, more: object = {}) =>
    put(keyed('a'), { ConditionExpression, ExpressionAttributeNames: { '#a': 'a' }, ...more });

  it.each<[string, string, object, RegExp]>([
    ['with redundant parentheses', '((attribute_exists(#a)))', {}, /redundant parentheses/],
    ['that ends early', 'attribute_exists(#a', {}, /Syntax error/],
    ['with something after its end', 'attribute_exists(#a) #a', {}, /Syntax error/],
    ['with a name that is not defined', 'attribute_exists(#b)', {}, /unused|not defined/],
    ['with a value that is not defined', '#a = :a', {}, /not defined: :a/],
    [
      'that uses less than is defined',
      'attribute_exists(#a)',
      { ExpressionAttributeValues: { ':a': { S: '' } } },
      /unused/,
    ],
    ['with no values in their place', 'attribute_exists(#a)', { ExpressionAttributeValues: {} }, /empty/],
    ['of more than 4 KB', `attribute_exists(#a)${' OR attribute_exists(#a)'.repeat(200)}`, {}, /maximum allowed size/],
  ])('is refused %s', (_, expression, more, message) => {
    expectRefusal(conditional(expression, more), 'ValidationException', message);
  });

  it('binds NOT closer than AND, and AND closer than OR', () => {
    put({ ...keyed('a'), a: { N: '1' } });
    const holds = (expression: string): boolean => {
      const Item = { ...keyed('a'), a: { N: '1' } };
      const names = { ExpressionAttributeNames: { '#a': 'a', '#b': 'b' } };
      return put(Item, { ConditionExpression: expression, ...names }).status === 200;
    };
    const [yes, no] = ['attribute_exists(#a)', 'attribute_exists(#b)'];
    expect(holds(`${yes} OR ${yes} AND ${no}`)).toBe(true);
    expect(holds(`(${yes} OR ${yes}) AND ${no}`)).toBe(false);
    expect(holds(`NOT ${no} AND ${yes}`)).toBe(true);
    expect(holds(`NOT (${no} OR ${yes})`)).toBe(false);
  });
});

describe('a page', () => {
  beforeEach(() => {
    for (const sk of ['a', 'b', 'c']) put(keyed(sk));
  });

  it('of a query with a limit names its last key, also if nothing follows', () => {
    expect(query({ Limit: 3 }).content).toMatchObject({ Count: 3, LastEvaluatedKey: keyed('c') });
    expect(query({ Limit: 4 }).content).not.toHaveProperty('LastEvaluatedKey');
    expect(query({ ExclusiveStartKey: keyed('c') }).content).toMatchObject({ Items: [] });
  });

  it('ends with the item that exceeds 1 MB', () => {
    for (const sk of ['d', 'e', 'f', 'g']) put({ ...keyed(sk), text: { S: 'x'.repeat(350_000) } });
    expect(query({}).content).toMatchObject({ Count: 6, LastEvaluatedKey: keyed('f') });
  });

  it('counts towards a limit what a filter leaves out', () => {
    const FilterExpression = '#sk = :c';
    const names = { '#sk': 'sk' };
    const filtered = {
      FilterExpression,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: { ':c': { S: 'c' } },
    };
    const { content } = ask('Scan', { TableName: 'table', Limit: 2, ...filtered });
    expect(content).toMatchObject({ Count: 0, ScannedCount: 2, LastEvaluatedKey: keyed('b') });
  });

  it('does not begin outside of what is asked for', () => {
    expectRefusal(query({ ExclusiveStartKey: keyed('a', 'q') }), 'ValidationException', /outside query boundaries/);
  });
});

describe('a transaction', () => {
  const write = (items: readonly object[], ClientRequestToken?: string): Answer =>
    ask('TransactWriteItems', {
      TransactItems: items,
      ...(ClientRequestToken !== undefined && { ClientRequestToken }),
    });
  const Put = (sk: string, more: object = {}) => ({ Put: { TableName: 'table', Item: keyed(sk), ...more } });
  const absent = { ConditionExpression: 'attribute_not_exists(#pk)', ExpressionAttributeNames: { '#pk': 'pk' } };

  it('says of each item whether it is at fault, and changes none', () => {
    put({ ...keyed('b'), n: { N: '1' } });
    const answer = write([Put('a', absent), Put('b', { ...absent, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' })]);
    expectRefusal(answer, 'TransactionCanceledException', /\[None, ConditionalCheckFailed\]/);
    const Item = { ...keyed('b'), n: { N: '1' } };
    expect(answer.content['CancellationReasons']).toMatchObject([
      { Code: 'None' },
      { Code: 'ConditionalCheckFailed', Item },
    ]);
    expect(query({}).content).toMatchObject({ Items: [Item] });
  });

  it('has at most 100 items and 4 MB, and no item twice', () => {
    const many = Array.from({ length: 101 }, (_, n) => Put(`${n}`));
    expectRefusal(write(many), 'ValidationException', /less than or equal to 100/);
    const large = many
      .slice(0, 13)
      .map(({ Put: { Item } }) => Put('', { Item: { ...Item, text: { S: 'x'.repeat(350_000) } } }));
    expectRefusal(write(large), 'ValidationException', /4 MB/);
    expectRefusal(write([Put('a'), Put('a')]), 'ValidationException', /multiple operations on one item/);
    expect(query({}).content).toMatchObject({ Count: 0 });
  });

  it('is seen item by item by plain reads until it ends, and by no others', () => {
    for (const sk of ['a', 'b', 'd']) put({ ...keyed(sk), n: { N: '1' } });
    const changes = [
      Put('a', { Item: { ...keyed('a'), n: { N: '2' } } }),
      { Delete: { TableName: 'table', Key: keyed('b') } },
      Put('c'),
      Put('d', { Item: { ...keyed('d'), n: { N: '2' } } }),
    ];
    const hides = [true, true, true, false];
    const body = Buffer.from(JSON.stringify({ TransactItems: changes }));
    const { answer, end } = engine.transact(body, () => hides.shift()!);
    expect(answer.status).toBe(200);
    const seen = (): unknown => query({}).content['Items'];
    const get = (sk: string): unknown => ask('GetItem', { TableName: 'table', Key: keyed(sk) }).content['Item'];
    const [a, b, d] = ['a', 'b', 'd'].map((sk) => ({ ...keyed(sk), n: { N: '1' } }));
    const after = [{ ...a, n: { N: '2' } }, keyed('c'), { ...d, n: { N: '2' } }];
    expect(seen()).toEqual([a, b, after[2]]);
    expect([get('a'), get('b'), get('c')]).toEqual([a, b, undefined]);
    const Get = { Get: { TableName: 'table', Key: keyed('a') } };
    expect(ask('TransactGetItems', { TransactItems: [Get] }).content).toEqual({ Responses: [{ Item: after[0] }] });
    expectRefusal(put(keyed('c'), absent), 'ConditionalCheckFailedException', /failed/);
    end();
    expect(seen()).toEqual(after);
    expect([get('a'), get('b'), get('c')]).toEqual([after[0], undefined, after[1]]);
  });

  it('is carried out once under its token, and another one not at all', () => {
    expect(write([Put('a', absent)], 'token').status).toBe(200);
    expect(write([Put('a', absent)], 'token').status).toBe(200);
    expectRefusal(write([Put('b', absent)], 'token'), 'IdempotentParameterMismatchException', /idempotent token/);
    expectRefusal(write([Put('a', absent)], 'another'), 'TransactionCanceledException', /ConditionalCheckFailed/);
  });
});

describe('the stream', () => {
  const streams = (call: string, input: object) => ask(call, input, 'DynamoDBStreams').content;
  function place(): { StreamArn: string; ShardId: string } {
    const { Table } = ask('DescribeTable', { TableName: 'table' }).content as { Table: { LatestStreamArn: string } };
    const StreamArn = Table.LatestStreamArn;
    const { StreamDescription } = streams('DescribeStream', { StreamArn }) as {
      StreamDescription: { Shards: { ShardId: string }[] };
    };
    return { StreamArn, ShardId: StreamDescription.Shards[0]!.ShardId };
  }
  type Page = { Records: { eventName: string; dynamodb: { SequenceNumber: string } }[]; NextShardIterator: string };
  const from = (ShardIteratorType: string, SequenceNumber?: string): Page => {
    const { ShardIterator } = streams('GetShardIterator', { ...place(), ShardIteratorType, SequenceNumber });
    return streams('GetRecords', { ShardIterator }) as unknown as Page;
  };

  it('has both images of each change, in order, and nothing of a write that changes nothing', () => {
    put(keyed('a'));
    put(keyed('a'));
    put({ ...keyed('a'), n: { N: '1' } });
    ask('DeleteItem', { TableName: 'table', Key: keyed('a') });
    ask('DeleteItem', { TableName: 'table', Key: keyed('a') });
    const { Records } = from('TRIM_HORIZON');
    const changed = { ...keyed('a'), n: { N: '1' } };
    expect(Records).toMatchObject([
      { eventName: 'INSERT', dynamodb: { Keys: keyed('a'), NewImage: keyed('a') } },
      { eventName: 'MODIFY', dynamodb: { OldImage: keyed('a'), NewImage: changed } },
      { eventName: 'REMOVE', dynamodb: { OldImage: changed } },
    ]);
    const [first, second] = Records.map(({ dynamodb }) => dynamodb.SequenceNumber);
    expect(from('AT_SEQUENCE_NUMBER', second).Records).toHaveLength(2);
    expect(from('AFTER_SEQUENCE_NUMBER', first).Records).toHaveLength(2);
    expect(from('LATEST').Records).toEqual([]);
  });

  it('is read page by page', () => {
    for (let n = 0; n < 1001; n += 1) put(keyed(`${n}`));
    const first = from('TRIM_HORIZON');
    expect(first.Records).toHaveLength(1000);
    const next = streams('GetRecords', { ShardIterator: first.NextShardIterator }) as unknown as Page;
    expect(next.Records).toHaveLength(1);
  });
});

it('refuses what it does not know, where DynamoDB would do something about it', () => {
  expectRefusal(put(keyed('a'), { ReturnConsumedCapacity: 'TOTAL' }), 'NotImplemented', /ReturnConsumedCapacity/);
  expectRefusal(ask('UpdateItem', { TableName: 'table' }), 'UnknownOperationException', /UpdateItem/);
});
