import { visibleName } from '../format/names.ts';
import { t } from '../messages/messages.ts';
import { go, route } from '../session/router.ts';
import { lastEnded } from '../transfers/queue.ts';
import { notify } from '../ui/notices.tsx';

/** Shows a notice for every transfer that ends with failures, on each page but that of transfers. Returns what ends this. */
export const announceFailures = (): (() => void) =>
  lastEnded.subscribe((job) => {
    if (job?.state.peek() !== 'failed' || route.peek().page === 'transfers') return;
    const { kinds, title } = t.peek().transfers;
    const error = job.error.peek() ?? job.failures.peek()[0]?.error;
    const action = { label: title, act: () => go({ page: 'transfers' }) };
    notify(`${kinds[job.spec.kind]} ${visibleName(job.spec.title)}`, { error, action });
  });
