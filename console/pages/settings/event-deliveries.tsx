import { useState } from 'preact/hooks';
import { curlCommand } from '../../format/commands.ts';
import { visibleName } from '../../format/names.ts';
import { eventTexts } from '../../messages/events.ts';
import { date, exactDate, number } from '../../messages/messages.ts';
import { listDeliveries, replayEvents, replayRequest, type Delivery, type DeliveryStatus } from '../../s3/events.ts';
import { config, session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CommandLine } from '../../ui/command-line.tsx';
import { useLoaded } from '../../ui/loaded.ts';
import { attempt, ErrorBox, notify } from '../../ui/notices.tsx';
import { named, Select } from '../../ui/select.tsx';

/** More are in the answers to the commands. */
const shownAtMost = 100;

/** The events of a bucket that wait for their delivery, or were given up. */
export function EventDeliveries({ bucket }: { readonly bucket: string }) {
  const { client } = session.value!;
  const texts = eventTexts.value.events;
  const [status, setStatus] = useState<DeliveryStatus>('failed');
  const loaded = useLoaded(
    async () => ({ of: status, ...(await listDeliveries(client, bucket, status, shownAtMost)) }),
    [client, bucket, status],
  );
  // Not those of the status that was chosen before: what waits cannot be replayed.
  const value = loaded.value?.of === status ? loaded.value : undefined;
  const replay = (id?: string): void =>
    void attempt(async () => {
      notify(texts.replayed(number(await replayEvents(client, bucket, id))));
      loaded.reload();
    });
  const { deliveries, hasMore } = value ?? { deliveries: [], hasMore: false };
  return (
    <section class="stack" aria-labelledby="event-deliveries">
      <h2 id="event-deliveries">{texts.deliveries}</h2>
      <p class="muted">{texts.deliveriesHint}</p>
      <Select
        label={texts.which}
        value={status}
        options={named(['failed', 'waiting'] as const, texts.status)}
        onInput={(next) => setStatus(next)}
      />
      {loaded.error !== undefined && <ErrorBox error={loaded.error} retry={loaded.reload} />}
      {value === undefined && loaded.error === undefined && <div class="skeleton" />}
      {value !== undefined && deliveries.length === 0 && <p>{texts.noDeliveries[status]}</p>}
      {deliveries.map((delivery) => (
        <Row
          key={`${delivery.webhook}/${delivery.id}`}
          delivery={delivery}
          onReplay={status === 'failed' ? () => replay(delivery.id) : undefined}
        />
      ))}
      {hasMore && <p class="muted">{texts.more}</p>}
      {status === 'failed' && deliveries.length > 0 && (
        <div class="row">
          <Button onClick={() => replay()}>{texts.replayAll}</Button>
        </div>
      )}
      <CommandLine
        label="curl"
        command={curlCommand(
          config.value!,
          status === 'failed'
            ? replayRequest(bucket)
            : { method: 'GET', bucket, query: { 'event-deliveries': '', status } },
        )}
      />
    </section>
  );
}

function Row({
  delivery,
  onReplay,
}: {
  readonly delivery: Delivery;
  /** Undefined: it is tried again without being asked. */
  readonly onReplay: (() => void) | undefined;
}) {
  const texts = eventTexts.value.events;
  const { event, webhook, since, reason, nextTry } = delivery;
  const key = visibleName(decoded(delivery.key));
  return (
    <section class="rule" aria-label={key}>
      <div class="grow">
        <strong class="wrap-anywhere">{key}</strong>
        <div class="muted wrap-anywhere">
          {event} · {texts.tells(webhook)} · <span title={exactDate(since)}>{`${texts.since} ${date(since)}`}</span>
        </div>
        {reason !== undefined && (
          <div class="wrap-anywhere">
            {texts.reason}: {reason}
          </div>
        )}
        {onReplay === undefined && (
          <div class="muted">
            {texts.nextTry}: {nextTry === undefined ? texts.soon : exactDate(nextTry)}
          </div>
        )}
      </div>
      {onReplay !== undefined && (
        <Button kind="quiet" label={texts.replayNamed(key)} onClick={onReplay}>
          {texts.replay}
        </Button>
      )}
    </section>
  );
}

/** Returns a key as it is: records have it as in a form. */
function decoded(key: string): string {
  return new URLSearchParams(`=${key}`).get('') ?? key;
}
