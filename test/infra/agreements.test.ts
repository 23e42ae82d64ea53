import { expect, it } from 'vitest';
import { maxLifecycleWorkers } from '../../shared/metadata/lifecycle/plan-lifecycle.ts';
import { backgroundFunctions, type Trigger } from '../../infra/background-functions.ts';
import { followedPrefixes, isFollowed } from '../../shared/metadata/table/keys.ts';

/** Infrastructure imports no function: what both must know stands in both, and agrees. */
function triggerOf(name: string): Trigger | undefined {
  return backgroundFunctions.find((one) => one.name === name)?.trigger;
}

it('calls each follower of the change feed for the items it looks at', () => {
  expect(triggerOf('CountUsage')).toMatchObject({ prefixes: followedPrefixes.usage });
  expect(triggerOf('ReleaseContent')).toMatchObject({ prefixes: followedPrefixes.release });
  const called = backgroundFunctions.flatMap(({ trigger }) => (trigger.by === 'changes' ? trigger.prefixes : []));
  expect(called.filter((prefix) => !isFollowed({ pk: `${prefix}x`, sk: 'x' }))).toEqual([]);
});

it('runs as many lifecycle workers as a pass is planned for', () => {
  expect(triggerOf('ApplyLifecycle')).toMatchObject({ maxConcurrency: maxLifecycleWorkers });
});
