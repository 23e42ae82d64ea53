import { describe, expect, it } from 'vitest';
import { isPassDue, planLifecycle } from '../../../shared/lifecycle/plan-lifecycle.ts';
import { applyLifecycle } from '../../../shared/lifecycle/apply-lifecycle.ts';
import { day, LifecycleWorld } from './lifecycle-deps.ts';

const never = (): boolean => false;

describe('the planner', () => {
  it('cuts buckets with rules into slices, and works on none', async () => {
    const world = await LifecycleWorld.create();
    await world.put('key');
    await world.setRules({ expiration: { days: 1 } });
    world.clock.time += 3 * day;
    const { pass, slices } = await planLifecycle(world.deps, never);
    expect(pass).toBeDefined();
    expect(slices).toBe(1);
    expect(await world.keys()).toEqual(['key']);
  });

  it('goes on with a pass that is not over, and begins one a day', async () => {
    const world = await LifecycleWorld.create();
    await world.setRules({ expiration: { days: 1 } });
    const first = await planLifecycle(world.deps, never);
    expect(await planLifecycle(world.deps, never)).toEqual(first);
    await applyLifecycle(world.deps, world.options);
    expect(await planLifecycle(world.deps, never)).toEqual({ pass: undefined, slices: 0 });
    world.clock.time += day;
    expect((await planLifecycle(world.deps, never)).pass).not.toBe(first.pass);
  });

  it('is over at once where no bucket has rules', async () => {
    const world = await LifecycleWorld.create();
    await planLifecycle(world.deps, never);
    expect(isPassDue(await world.deps.passes.latest(), world.clock.time)).toBe(false);
  });
});
