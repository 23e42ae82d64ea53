import { useEffect, useRef } from 'preact/hooks';
import { changes } from '../../transfers/queue.ts';

/** Calls back after a job or an action has changed the contents of a bucket. */
export function useChanges(bucket: string, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    let seen = changes.peek().count;
    return changes.subscribe(({ bucket: changed, count }) => {
      if (count !== seen && changed === bucket) latest.current();
      seen = count;
    });
  }, [bucket]);
}
