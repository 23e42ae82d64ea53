import { minute } from '../../../shared/ports/durations.ts';
import { checkLayout } from '../../../shared/storage/table/layout.ts';
import type { CloudBlobsClass } from '../blobs.ts';
import { cloudDeps, type CloudDeps } from './adapters.ts';

/** The used fields of Lambda's invocation context. */
export interface Invocation {
  getRemainingTimeInMillis(): number;
  /** The id of the invocation, by which CloudTrail knows who made it. */
  readonly awsRequestId: string;
}

/** The work of a background function. `stopping` returns whether its time is nearly up; `id` is that of the invocation. */
export type Work<Event, Answer> = (event: Event, stopping: () => boolean, id: string) => Promise<Answer>;

/** The time before its end in which a function starts nothing new. A page of a lifecycle pass takes less. */
const reserve = 2 * minute;

/**
 * Returns the handler of a background function. It is composed with the first event; after a failure, the next event tries again.
 * Its answer is logged unless it contains secrets.
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
      const stopping = (): boolean => invocation.getRemainingTimeInMillis() < reserve;
      const answer = await composed.work(event, stopping, invocation.awsRequestId);
      deps.log.note(name, secretAnswer || answer === undefined ? {} : { answer: JSON.stringify(answer) });
      return answer;
    } catch (error) {
      deps.log.problem(`${name} failed`, error);
      throw error;
    } finally {
      // Lambda freezes the process once it has the response.
      deps.log.flush();
    }
  };
}
