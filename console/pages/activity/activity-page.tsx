import { commandOf, curlCommand } from '../../format/commands.ts';
import { visibleName } from '../../format/names.ts';
import { t } from '../../messages/messages.ts';
import { activity, config } from '../../session/session.ts';
import { CopyButton } from '../../ui/command-line.tsx';
import { Empty } from '../../ui/notices.tsx';

const shown = 200;

/** The tone of a status. A 404 is not an error: it means that a setting was never set. */
const toneOf = (status: number): string => (status === 404 ? 'muted' : status >= 200 && status < 300 ? '' : 'bad');

/** The requests of this session with their responses, and the commands that send them from a shell. */
export function ActivityPage() {
  const texts = t.value.activity;
  const target = config.value!;
  return (
    <div class="page">
      <div class="page-head">
        <h1>{texts.title}</h1>
      </div>
      <p class="muted page-hint">{texts.hint}</p>
      {activity.value.length === 0 ? (
        <Empty title={texts.none} />
      ) : (
        <table class="small activity-table">
          <thead>
            <tr>
              <th class="fit hide-narrow">{texts.time}</th>
              <th class="fit">{texts.method}</th>
              <th>{texts.target}</th>
              <th class="fit">{texts.status}</th>
              <th class="fit number hide-narrow">{texts.ms}</th>
              <th class="fit hide-narrow">{texts.id}</th>
              <th class="fit">
                <span class="visually-hidden">{t.value.common.copy}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {activity.value.slice(0, shown).map((record) => (
              <tr key={record.id}>
                <td class="fit mono hide-narrow">{record.at.toTimeString().slice(0, 8)}</td>
                <td class="fit mono">{record.method}</td>
                <td class="mono" title={visibleName(record.target)}>
                  {visibleName(record.target)}
                </td>
                <td class="fit mono">
                  <span class={toneOf(record.status)}>
                    {record.status || '–'} <span class="hide-narrow">{record.code}</span>
                  </span>
                </td>
                <td class="fit number mono hide-narrow">{record.ms}</td>
                <td class="fit mono hide-narrow muted" title={record.requestId}>
                  {record.requestId.slice(0, 16)}
                </td>
                <td class="fit">
                  <span class="row copies">
                    <CopyButton text={commandOf(target, record.request)} label={texts.copyCli} />
                    <CopyButton text={curlCommand(target, record.request)} label={texts.copyCurl} />
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
