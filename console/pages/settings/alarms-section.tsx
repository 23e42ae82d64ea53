import { askAlarm } from './alarm-dialog.tsx';
import { AlarmHistory } from './alarm-history.tsx';
import { alarmCommand, conditionOf, windowOf } from './alarm-words.ts';
import { MonitoringError } from './monitoring-error.tsx';
import { MonitoringSwitch } from './monitoring-switch.tsx';
import { curlCommand } from '../../format/commands.ts';
import { visibleName } from '../../format/names.ts';
import { date, exactDate, t } from '../../messages/messages.ts';
import { deleteAlarm, getMonitoring, listAlarms, putAlarm, type Alarm, type AlarmState } from '../../s3/monitoring.ts';
import { config, session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CommandLine } from '../../ui/command-line.tsx';
import { ask, DialogForm } from '../../ui/dialog.tsx';
import { useLoaded } from '../../ui/loaded.ts';
import { attempt, notify } from '../../ui/notices.tsx';

/** The alarms of a bucket: their states, conditions, actions and history. */
export function AlarmsSection({ bucket }: { readonly bucket: string }) {
  const { client } = session.value!;
  const texts = t.value.alarms;
  const loaded = useLoaded(async () => {
    const [isOn, list] = await Promise.all([getMonitoring(client, bucket), listAlarms(client, bucket)]);
    return { isOn, list };
  }, [client, bucket]);
  if (loaded.error !== undefined) return <MonitoringError error={loaded.error} retry={loaded.reload} />;
  if (loaded.value === undefined) return <div class="skeleton" />;
  const { isOn, list } = loaded.value;
  const edit = async (alarm: Alarm | undefined): Promise<void> => {
    const names = list.filter((each) => each !== alarm).map(({ name }) => name);
    const next = await askAlarm(bucket, alarm, names);
    if (next === undefined) return;
    await attempt(async () => {
      const secret = await putAlarm(client, bucket, next);
      notify(t.value.common.saved);
      loaded.reload();
      if (secret !== undefined) await showSecret(secret);
    });
  };
  const remove = async ({ name }: Alarm): Promise<void> => {
    const sure = await ask<true>((answer) => (
      <DialogForm
        commands={[
          {
            label: 'curl',
            command: curlCommand(config.value!, { method: 'DELETE', bucket, query: { alarm: '', name } }),
          },
        ]}
        title={texts.deleteTitle(visibleName(name))}
        submit={texts.delete}
        danger
        onSubmit={() => answer(true)}
      >
        <p>{texts.deleteMeaning}</p>
      </DialogForm>
    ));
    if (sure === undefined) return;
    await attempt(async () => {
      await deleteAlarm(client, bucket, name);
      loaded.reload();
    });
  };
  const first = list[0];
  return (
    <div class="stack">
      <p class="muted">{texts.hint}</p>
      {!isOn && <MonitoringSwitch bucket={bucket} isOn={false} onChanged={loaded.reload} />}
      {list.map((alarm) => (
        <section class="alarm" key={alarm.name} aria-label={alarm.name}>
          <div class="row">
            <StateBadge state={alarm.state} />
            <strong class="grow wrap-anywhere">{visibleName(alarm.name)}</strong>
            <Button kind="quiet" label={texts.editNamed(alarm.name)} disabled={!isOn} onClick={() => void edit(alarm)}>
              {t.value.details.edit}
            </Button>
            <Button icon="trash" tip={texts.deleteNamed(alarm.name)} onClick={() => void remove(alarm)} />
          </div>
          {alarm.description !== '' && <p class="wrap-anywhere">{visibleName(alarm.description)}</p>}
          <p>
            {conditionOf(alarm)} <span class="muted">· {windowOf(alarm)}</span>
          </p>
          <p class="hint wrap-anywhere" title={exactDate(alarm.since)}>
            {texts.since(date(alarm.since))} · {alarm.reason}
          </p>
          <Actions alarm={alarm} />
          <AlarmHistory bucket={bucket} name={alarm.name} />
        </section>
      ))}
      {list.length === 0 && <p>{texts.none}</p>}
      <div class="row">
        <Button icon="plus" disabled={!isOn} onClick={() => void edit(undefined)}>
          {texts.add}
        </Button>
      </div>
      <CommandLine
        label="curl"
        command={
          first === undefined
            ? curlCommand(config.value!, { method: 'GET', bucket, query: { alarms: '' } })
            : alarmCommand(bucket, first)
        }
      />
    </div>
  );
}

function StateBadge({ state }: { readonly state: AlarmState }) {
  const looks = { OK: 'badge good', ALARM: 'badge bad', INSUFFICIENT_DATA: 'badge' } as const;
  return <span class={looks[state]}>{t.value.alarms.states[state]}</span>;
}

function Actions({ alarm }: { readonly alarm: Alarm }) {
  const texts = t.value.alarms;
  const states = (['ALARM', 'OK', 'INSUFFICIENT_DATA'] as const).filter((state) => alarm.actions[state].length > 0);
  if (states.length === 0) return null;
  return (
    <dl class={alarm.actionsEnabled ? 'details-list' : 'details-list muted'}>
      {states.map((state) => (
        <>
          <dt>{texts.onState[state]}</dt>
          <dd class="mono">{alarm.actions[state].join(', ')}</dd>
        </>
      ))}
    </dl>
  );
}

async function showSecret(secret: string): Promise<void> {
  const texts = t.value.alarms;
  await ask<void>((answer) => (
    <DialogForm
      commands="none"
      title={texts.secretTitle}
      submit={t.value.common.close}
      isOnlyClosed
      onSubmit={() => answer()}
    >
      <p>{texts.secretMeaning}</p>
      <CommandLine command={secret} label={texts.secret} />
    </DialogForm>
  ));
}
