import { expect, it } from 'vitest';
import { maxLifecycleWorkers } from '../../shared/lifecycle/plan-lifecycle.ts';
import { backgroundFunctions, type Trigger } from '../../infra/constructs/background-functions.ts';
import { followedPrefixes, isFollowed } from '../../shared/storage/table/keys/keys.ts';

/** The functions that follow the change feed, and the items that they follow. Infrastructure imports no function: the two must agree. */
const followers: Readonly<Record<string, readonly string[]>> = {
  CountUsage: followedPrefixes.usage,
  ReleaseContent: followedPrefixes.release,
};

function triggerOf(name: string): Trigger | undefined {
  return backgroundFunctions.find((one) => one.name === name)?.trigger;
}

it('calls each follower of the change feed for the items it looks at', () => {
  const called = backgroundFunctions.flatMap(({ name, trigger }) =>
    trigger.by === 'changes' ? [[name, trigger.prefixes] as const] : [],
  );
  expect(Object.fromEntries(called)).toEqual(followers);
  const prefixes = called.flatMap(([, each]) => each);
  expect(prefixes.filter((prefix) => !isFollowed({ pk: `${prefix}x`, sk: 'x' }))).toEqual([]);
});

// More than two readers of a shard are throttled: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
it('has no more functions that follow the change feed than its stream has readers', () => {
  expect(backgroundFunctions.filter(({ trigger }) => trigger.by === 'changes').length).toBeLessThanOrEqual(2);
});

it('runs as many lifecycle workers as a pass is planned for', () => {
  expect(triggerOf('ApplyLifecycle')).toMatchObject({ maxConcurrency: maxLifecycleWorkers });
});
