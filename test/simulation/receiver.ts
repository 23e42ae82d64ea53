import type { WebhookCall, WebhookCaller, WebhookGuard, CallOutcome } from '../../shared/ports/webhook-caller.ts';
import type { WebReader } from '../../shared/ports/web-reader.ts';
import { minute, second } from '../../shared/ports/durations.ts';
import type { SimulatedProcess } from './scheduler.ts';
import type { World } from './table.ts';

/** The host to which webhooks are sent. It takes what it answers with 200, and sometimes more. */
export class Receiver {
  /** The bodies that it has taken, in order; some more than once. */
  readonly taken: string[] = [];
  readonly #world: World;
  #downUntil = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Returns what a process calls it by. */
  callerOf(process: SimulatedProcess): WebhookCaller & WebhookGuard & WebReader {
    const { scheduler, adversity } = this.#world;
    const label = `${process.name}: calls a webhook`;
    return {
      call: (call) => scheduler.call(process, label, adversity.now.latency, () => this.#answer(call)),
      refusal: () => Promise.resolve(undefined),
      read: () => Promise.resolve(undefined),
    };
  }

  #answer({ body }: WebhookCall): CallOutcome {
    const { scheduler, adversity } = this.#world;
    const { now, random } = scheduler;
    if (adversity.isOn && random.next() < 0.01) this.#downUntil = now + random.next() * minute;
    if (now < this.#downUntil) return { outcome: 'unreachable', reason: 'down' };
    const wrong = adversity.isOn ? 1 : 0;
    const kind = random.weighted({ taken: 8, unreachable: wrong, failed: wrong, busy: wrong, answerLost: wrong });
    if (kind === 'unreachable') return { outcome: 'unreachable', reason: 'no connection' };
    if (kind === 'failed') return { outcome: 'answered', status: 500 };
    if (kind === 'busy') return { outcome: 'answered', status: 429, retryAfter: random.next() * 5 * second };
    this.taken.push(body);
    return kind === 'taken' ? { outcome: 'answered', status: 200 } : { outcome: 'unreachable', reason: 'no answer' };
  }
}
