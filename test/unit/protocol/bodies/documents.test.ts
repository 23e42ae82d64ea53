import { describe, expect, it } from 'vitest';
import { operations } from '../../../../functions/operations.ts';
import { EventLoopBudget, stepsPerTurn } from '../../../../shared/ports/event-loop.ts';
import { defaultLimits } from '../../../../shared/protocol/limits.ts';
import type { BodyMode, Settings } from '../../../../shared/protocol/operation.ts';

const settings = { limits: defaultLimits } as Settings;
const documents = [...operations.values()].flatMap(({ name, body }) =>
  typeof body === 'object' ? [[name, body as Exclude<BodyMode, string>] as const] : [],
);

describe('the largest document of', () => {
  it.each(documents)('%s is read in many turns of the event loop, or refused in one', async (_, body) => {
    const size = defaultLimits[body.maximum];
    const document = Buffer.from(`<X>${'<A/>'.repeat(size / 4)}`.slice(0, size));
    let turns = 0;
    const budget = new EventLoopBudget(async () => void turns++);
    const code = await Promise.resolve()
      .then(() => body.read(document, settings, budget) as unknown)
      .then(
        () => 'read',
        (error: unknown) => (error as { code: string }).code,
      );
    if (code === 'PolicyTooLarge' || code === 'ValidationError' || code === 'SerializationException') return;
    // It is refused for its 100,001st element, of four characters.
    const parsed = Math.min(size, 400_000);
    expect({ code, turns: turns >= parsed / 2 / stepsPerTurn - 1 }).toEqual({ code: 'MalformedXML', turns: true });
  });
});
