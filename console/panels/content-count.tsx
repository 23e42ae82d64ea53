import { useEffect, useState } from 'preact/hooks';
import { number, size, t } from '../messages/messages.ts';
import { isFailure } from '../s3/failure.ts';
import type { Entry } from '../s3/listing.ts';
import { session } from '../session/session.ts';
import { objectsOf } from '../transfers/actions.ts';
import { ErrorBox } from '../ui/notices.tsx';

interface Count {
  readonly objects: number;
  readonly bytes: number;
  readonly isComplete: boolean;
}

const none: Count = { objects: 0, bytes: 0, isComplete: false };

/** Says how many objects something concerns, counting them while it is shown: those chosen, and all in chosen folders. */
export function ContentCount({ bucket, entries }: { readonly bucket: string; readonly entries: readonly Entry[] }) {
  const [count, setCount] = useState(none);
  const [error, setError] = useState<unknown>();
  const { client } = session.value!;
  useEffect(() => {
    const shown = new AbortController();
    const run = async (): Promise<void> => {
      let [objects, bytes] = [0, 0];
      for await (const page of objectsOf(client, bucket, entries, shown.signal)) {
        objects += page.length;
        for (const each of page) bytes += each.size;
        setCount({ objects, bytes, isComplete: false });
      }
      setCount({ objects, bytes, isComplete: true });
    };
    setCount(none);
    setError(undefined);
    run().catch((failure: unknown) => isFailure(failure, 'Aborted') || setError(failure));
    return () => shown.abort();
  }, [bucket, entries]);
  if (error !== undefined) return <ErrorBox error={error} />;
  const { common } = t.value;
  const what = common.objectsOfSize(common.objects(count.objects, number(count.objects)), size(count.bytes));
  return (
    <p role="status">
      <strong>{count.isComplete ? what : common.soFar(what)}</strong>
    </p>
  );
}
