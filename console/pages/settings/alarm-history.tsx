import { useState } from 'preact/hooks';
import { date, exactDate, t } from '../../messages/messages.ts';
import { getAlarmHistory, type AlarmEvent } from '../../s3/monitoring.ts';
import { session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorBox } from '../../ui/notices.tsx';

/** The history of an alarm over the last 30 days, read when it is opened. */
export function AlarmHistory({ bucket, name }: { readonly bucket: string; readonly name: string }) {
  const { client } = session.value!;
  const texts = t.value.alarms;
  const [events, setEvents] = useState<readonly AlarmEvent[]>();
  const [next, setNext] = useState<string>();
  const [error, setError] = useState<unknown>();
  const read = async (marker?: string): Promise<void> => {
    setError(undefined);
    try {
      const page = await getAlarmHistory(client, bucket, name, marker);
      setEvents([...(marker === undefined ? [] : (events ?? [])), ...page.events]);
      setNext(page.next);
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <details onToggle={(event) => event.currentTarget.open && void read()}>
      <summary aria-label={texts.historyOf(name)}>{texts.history}</summary>
      {error !== undefined && <ErrorBox error={error} retry={() => void read()} />}
      {events?.length === 0 && <p class="muted">{texts.noHistory}</p>}
      {events && events.length > 0 && (
        <ol class="history">
          {events.map(({ at, type, summary }, index) => (
            <li key={index}>
              <span class="muted" title={exactDate(at)}>
                {date(at)}
              </span>
              <span class="badge">{typeName(type)}</span>
              <span class="wrap-anywhere">{summary}</span>
            </li>
          ))}
        </ol>
      )}
      {next !== undefined && <Button onClick={() => void read(next)}>{texts.older}</Button>}
    </details>
  );
}

const typeName = (type: string): string =>
  (t.value.alarms.types as Readonly<Record<string, string | undefined>>)[type] ?? type;
