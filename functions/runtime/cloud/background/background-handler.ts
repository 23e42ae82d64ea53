import { minute } from '../../../../shared/ports/durations.ts';
import { checkLayout } from '../../../../shared/metadata/table/layout.ts';
import type { CloudBlobsClass } from '../blobs.ts';
import { cloudDeps, type CloudDeps } from './adapters.ts';

/** What is used of the context that Lambda gives to an invocation. */
export interface Invocation {
  getRemainingTimeInMillis(): number;
}

/** Work of a function in the background. `stopping` says whether its time is nearly up. */
export type Work<Event, Answer> = (event: Event, stopping: () => boolean) => Promise<Answer>;

/** So long before its end a function begins nothing new: a page of a lifecycle pass takes less. */
const reserve = 2 * minute;

/**
 * The handler of a function that works in the background. It is composed with its first event; should that fail, the next one
 * tries again. What it answers is logged, but for answers that hold secrets. Without `blobs` it has none.
 */
export function backgroundHandler<Event, Answer extends object | undefined>(
  name: string,
  compose: (deps: CloudDeps) => Work<Event, Answer> | Promise<Work<Event, Answer>>,
  { secretAnswer = false, blobs }: { readonly secretAnswer?: boolean; readonly blobs?: CloudBlobsClass } = {},
): (event: Event, invocation: Invocation) => Promise<Answer> {
  let composed: { readonly deps: CloudDeps; readonly work: Work<Event, Answer> } | undefined;
  return async (event, invocation) => {
    const deps = composed?.deps ?? cloudDeps(process.env, blobs);
    try {
      if (composed === undefined) {
        await checkLayout(deps.table, 'write');
        composed = { deps, work: await compose(deps) };
      }
      const answer = await composed.work(event, () => invocation.getRemainingTimeInMillis() < reserve);
      deps.log.note(name, secretAnswer || answer === undefined ? {} : { answer: JSON.stringify(answer) });
      return answer;
    } catch (error) {
      deps.log.problem(`${name} failed`, error);
      throw error;
    } finally {
      // Lambda stops the process as soon as it has the answer.
      deps.log.flush();
    }
  };
}
