import { useState } from 'preact/hooks';
import { alarmCommand, lengthOf } from './alarm-words.ts';
import { t } from '../../messages/messages.ts';
import {
  alarmStates,
  comparisons,
  metrics,
  missingData,
  statistics,
  type Alarm,
  type AlarmSettings,
  type AlarmState,
} from '../../s3/monitoring.ts';
import { ask, DialogForm } from '../../ui/dialog.tsx';
import { linesOf } from '../../ui/lines.ts';
import { Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { TextField } from '../../ui/text-field.tsx';

const periods = [300, 900, 3_600, 21_600, 86_400] as const;
const units = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 } as const;
type Unit = keyof typeof units;

const newAlarm: AlarmSettings = {
  name: '',
  description: '',
  metric: 'BucketSizeBytes',
  statistic: 'Maximum',
  comparison: 'GreaterThanThreshold',
  threshold: NaN,
  period: 300,
  evaluationPeriods: 1,
  datapointsToAlarm: 1,
  missingData: 'missing',
  actionsEnabled: true,
  actions: { OK: [], ALARM: ['log:'], INSUFFICIENT_DATA: [] },
};

/** Asks for the settings of an alarm of a bucket. Without an alarm, creates a new one. */
export function askAlarm(
  bucket: string,
  alarm: Alarm | undefined,
  taken: readonly string[],
): Promise<AlarmSettings | undefined> {
  return ask<AlarmSettings>((answer) => <AlarmDialog bucket={bucket} alarm={alarm} taken={taken} onDone={answer} />);
}

/** Returns whether a text is a valid action: the log, a webhook or a topic. */
const isAction = (text: string): boolean => /^(?:log:|https:\/\/\S+|arn:aws[\w-]*:sns:\S+)$/.test(text);

/** The largest unit in which a number of bytes is whole. */
const unitOf = (bytes: number): Unit =>
  (Object.keys(units) as Unit[]).reverse().find((unit) => bytes >= units[unit] && bytes % units[unit] === 0) ?? 'B';

function AlarmDialog({
  bucket,
  alarm,
  taken,
  onDone,
}: {
  readonly bucket: string;
  readonly alarm: Alarm | undefined;
  readonly taken: readonly string[];
  readonly onDone: (alarm: AlarmSettings) => void;
}) {
  const texts = t.value.alarms;
  const before = alarm ?? newAlarm;
  const isBytesBefore = before.metric === 'BucketSizeBytes' && !Number.isNaN(before.threshold);
  const [next, setNext] = useState<AlarmSettings>(before);
  const [unit, setUnit] = useState<Unit>(isBytesBefore ? unitOf(before.threshold) : 'GB');
  const [threshold, setThreshold] = useState(
    Number.isNaN(before.threshold) ? '' : String(isBytesBefore ? before.threshold / units[unit] : before.threshold),
  );
  const [evaluated, setEvaluated] = useState(String(before.evaluationPeriods));
  const [datapoints, setDatapoints] = useState(String(before.datapointsToAlarm));
  const [actions, setActions] = useState<Readonly<Record<AlarmState, string>>>({
    OK: before.actions.OK.join('\n'),
    ALARM: before.actions.ALARM.join('\n'),
    INSUFFICIENT_DATA: before.actions.INSUFFICIENT_DATA.join('\n'),
  });
  const name = next.name.trim();
  const isTaken = taken.includes(name);
  const isCount = (text: string): boolean => /^[1-9]\d{0,3}$/.test(text);
  const isTooMany = isCount(evaluated) && isCount(datapoints) && Number(datapoints) > Number(evaluated);
  const hasUnit = next.metric === 'BucketSizeBytes' && next.statistic !== 'SampleCount';
  const amount = threshold.trim() === '' ? NaN : Number(threshold);
  const badAction = (state: AlarmState): string | undefined => linesOf(actions[state]).find((each) => !isAction(each));
  const isReady =
    name !== '' &&
    !isTaken &&
    Number.isFinite(amount) &&
    isCount(evaluated) &&
    isCount(datapoints) &&
    !isTooMany &&
    alarmStates.every((state) => badAction(state) === undefined);
  const done: AlarmSettings = {
    ...next,
    name,
    threshold: amount * (hasUnit ? units[unit] : 1),
    evaluationPeriods: Number(evaluated),
    datapointsToAlarm: Number(datapoints),
    actions: {
      OK: linesOf(actions.OK),
      ALARM: linesOf(actions.ALARM),
      INSUFFICIENT_DATA: linesOf(actions.INSUFFICIENT_DATA),
    },
  };
  const lengths = (periods as readonly number[]).includes(next.period) ? periods : [next.period, ...periods];
  return (
    <DialogForm
      commands={isReady ? [{ label: 'curl', command: alarmCommand(bucket, done) }] : []}
      title={alarm === undefined ? texts.add : texts.edit}
      submit={t.value.common.save}
      disabled={!isReady}
      onSubmit={() => onDone(done)}
    >
      {alarm === undefined && (
        <TextField
          label={texts.name}
          error={isTaken ? texts.nameTaken : undefined}
          autofocus
          maxLength={255}
          value={next.name}
          onInput={(value) => setNext({ ...next, name: value })}
        />
      )}
      <TextField
        label={texts.description}
        maxLength={1_024}
        value={next.description}
        onInput={(description) => setNext({ ...next, description })}
      />
      <div class="pair-fields">
        <Select
          label={texts.metric}
          value={next.metric}
          options={metrics.map((each) => [each, texts.metrics[each]] as const)}
          onChange={(metric) => setNext({ ...next, metric })}
        />
        <Select
          label={t.value.monitoring.statistic}
          value={next.statistic}
          options={statistics.map((each) => [each, t.value.monitoring.statistics[each]] as const)}
          onChange={(statistic) => setNext({ ...next, statistic })}
        />
      </div>
      <div class={hasUnit ? 'pair-fields three' : 'pair-fields'}>
        <Select
          label={texts.comparison}
          value={next.comparison}
          options={comparisons.map((each) => [each, texts.comparisons[each]] as const)}
          onChange={(comparison) => setNext({ ...next, comparison })}
        />
        <TextField label={texts.threshold} inputMode="decimal" value={threshold} onInput={setThreshold} />
        {hasUnit && (
          <Select
            label={texts.unit}
            value={unit}
            options={(Object.keys(units) as Unit[]).map((each) => [each, each] as const)}
            onChange={setUnit}
          />
        )}
      </div>
      <div class="pair-fields three">
        <Select
          label={texts.period}
          value={String(next.period)}
          options={lengths.map((each) => [String(each), lengthOf(each)] as const)}
          onChange={(period) => setNext({ ...next, period: Number(period) })}
        />
        <TextField label={texts.periods} inputMode="numeric" value={evaluated} onInput={setEvaluated} />
        <TextField
          label={texts.datapoints}
          error={isTooMany ? texts.datapointsBad : undefined}
          inputMode="numeric"
          value={datapoints}
          onInput={setDatapoints}
        />
      </div>
      <Select
        label={texts.missing}
        value={next.missingData}
        options={missingData.map((each) => [each, texts.missings[each]] as const)}
        onChange={(chosen) => setNext({ ...next, missingData: chosen })}
      />
      <fieldset class="stack tight">
        <legend>{texts.actions}</legend>
        <Switch
          label={texts.actionsEnabled}
          hint={texts.actionsHint}
          checked={next.actionsEnabled}
          onChange={(actionsEnabled) => setNext({ ...next, actionsEnabled })}
        />
        {(['ALARM', 'OK', 'INSUFFICIENT_DATA'] as const).map((state) => {
          const bad = badAction(state);
          return (
            <TextField
              key={state}
              label={texts.onState[state]}
              error={bad === undefined ? undefined : texts.actionBad(bad)}
              rows={1}
              value={actions[state]}
              onInput={(value) => setActions({ ...actions, [state]: value })}
            />
          );
        })}
      </fieldset>
    </DialogForm>
  );
}
