import { useState } from 'preact/hooks';
import type { BucketQuota } from './admin-client.ts';
import { session } from './operator-session.ts';
import { PagedTable } from './paged-table.tsx';
import { visibleName } from '../format/names.ts';
import { number, size } from '../messages/messages.ts';
import { texts } from '../messages/operators.ts';
import { useLoaded } from '../ui/loaded.ts';
import { Meter } from '../ui/meter.tsx';
import { ErrorBox } from '../ui/notices.tsx';
import { usePages } from '../ui/pages.ts';
import { useSeen } from '../ui/seen.ts';

/** What a project uses of its quota of buckets, and what each bucket uses of its own. */
export function BucketsSection({ project }: { readonly project: string }) {
  const { client } = session.value!;
  const words = texts.value;
  const quota = useLoaded((signal) => client.ask('quota show project', { project }, signal), [client, project]);
  const list = usePages((after, signal) => client.ask('bucket list', { project, after }, signal), [client, project]);
  return (
    <section class="stack tight">
      <h2>{words.quotas}</h2>
      {quota.error !== undefined && <ErrorBox error={quota.error} retry={quota.reload} />}
      {quota.value && (
        <div class="quotas">
          <Meter
            text={words.quotaBuckets(number(quota.value.buckets.used), number(quota.value.buckets.quota))}
            part={partOf(quota.value.buckets.used, quota.value.buckets.quota)}
          />
        </div>
      )}
      <PagedTable
        list={list}
        items={({ buckets }) => buckets}
        caption={words.quotas}
        columns={[{ title: words.bucket }, { title: words.stored }, { title: words.objects }]}
        empty={<p class="muted">{words.noBuckets}</p>}
        row={({ bucket }) => <BucketRow key={bucket} bucket={bucket} />}
      />
    </section>
  );
}

function BucketRow({ bucket }: { readonly bucket: string }) {
  const { client } = session.value!;
  const words = texts.value;
  /** Null: it could not be read, as of a bucket that was removed meanwhile. */
  const [held, setHeld] = useState<BucketQuota | null>();
  const row = useSeen<HTMLTableRowElement>(() => {
    client.ask('quota show bucket', { bucket }).then(setHeld, () => setHeld(null));
  });
  const { used, quota } = held ?? {};
  const missing = held === null ? <span class="muted">{words.unknown}</span> : <div class="skeleton" />;
  return (
    <tr ref={row}>
      <td>{visibleName(bucket)}</td>
      <td>
        {used && quota ? (
          <Meter text={words.quotaBytes(size(used.bytes), size(quota.bytes))} part={partOf(used.bytes, quota.bytes)} />
        ) : (
          missing
        )}
      </td>
      <td>
        {used && quota ? (
          <Meter
            text={words.quotaObjects(number(used.objects), number(quota.objects))}
            part={partOf(used.objects, quota.objects)}
          />
        ) : (
          missing
        )}
      </td>
    </tr>
  );
}

/** Of a quota of nothing, all is used. */
const partOf = (used: number, quota: number): number => (quota === 0 ? 1 : used / quota);
