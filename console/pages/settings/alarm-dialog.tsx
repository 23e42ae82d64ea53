import { alarmCommand, lengthOf } from './alarm-words.ts';
import { t } from '../../messages/messages.ts';
import {
  alarmStates,
  comparisons,
  isInBytes,
  metrics,
  missingData,
  statistics,
  type Alarm,
  type AlarmSettings,
  type AlarmState,
} from '../../s3/monitoring.ts';
import { ask, DialogForm } from '../../ui/dialog.tsx';
import { useForm, type Form } from '../../ui/form.ts';
import { linesOf } from '../../ui/lines.ts';
import { named, Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { TextField } from '../../ui/text-field.tsx';

const periods = ['300', '900', '3600', '21600', '86400'];
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

const isCount = (text: string): boolean => /^[1-9]\d{0,3}$/.test(text);
const perState = <T,>(of: (state: AlarmState) => T) =>
  Object.fromEntries(alarmStates.map((state) => [state, of(state)])) as Record<AlarmState, T>;

/** What the fields hold: text in place of numbers and lists of actions, and the unit of a threshold in bytes. */
type Written = 'threshold' | 'period' | 'evaluationPeriods' | 'datapointsToAlarm';
type Draft = Omit<AlarmSettings, Written | 'actions'> &
  Readonly<Record<Written | AlarmState, string>> & { readonly unit: Unit };

function draftOf(alarm: AlarmSettings): Draft {
  const { threshold, actions } = alarm;
  const isKnown = !Number.isNaN(threshold);
  const isBytes = isKnown && isInBytes(alarm);
  const unit = isBytes ? unitOf(threshold) : 'GB';
  return {
    ...alarm,
    unit,
    threshold: isKnown ? String(isBytes ? threshold / units[unit] : threshold) : '',
    period: String(alarm.period),
    evaluationPeriods: String(alarm.evaluationPeriods),
    datapointsToAlarm: String(alarm.datapointsToAlarm),
    ...perState((state) => actions[state].join('\n')),
  };
}

function alarmOf(draft: Draft): AlarmSettings {
  const amount = draft.threshold.trim() === '' ? NaN : Number(draft.threshold);
  return {
    ...draft,
    name: draft.name.trim(),
    threshold: amount * (isInBytes(draft) ? units[draft.unit] : 1),
    period: Number(draft.period),
    evaluationPeriods: Number(draft.evaluationPeriods),
    datapointsToAlarm: Number(draft.datapointsToAlarm),
    actions: perState((state) => linesOf(draft[state])),
  };
}

/** What is wrong with fields that are filled in, in words. */
function faultsOf(
  draft: Draft,
  { name, actions, evaluationPeriods, datapointsToAlarm }: AlarmSettings,
  taken: readonly string[],
) {
  const texts = t.value.alarms;
  const areCounts = isCount(draft.evaluationPeriods) && isCount(draft.datapointsToAlarm);
  return {
    name: taken.includes(name) ? texts.nameTaken : undefined,
    datapoints: areCounts && datapointsToAlarm > evaluationPeriods ? texts.datapointsBad : undefined,
    ...perState((state) => {
      const bad = actions[state].find((each) => !isAction(each));
      return bad === undefined ? undefined : texts.actionBad(bad);
    }),
  };
}

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
  const { values, field } = useForm(() => draftOf(alarm ?? newAlarm));
  const done = alarmOf(values);
  const faults = faultsOf(values, done, taken);
  const isReady =
    done.name !== '' &&
    Number.isFinite(done.threshold) &&
    isCount(values.evaluationPeriods) &&
    isCount(values.datapointsToAlarm) &&
    Object.values(faults).every((fault) => fault === undefined);
  return (
    <DialogForm
      commands={isReady ? [{ label: 'curl', command: alarmCommand(bucket, done) }] : []}
      title={alarm === undefined ? texts.add : texts.edit}
      submit={t.value.common.save}
      disabled={!isReady}
      onSubmit={() => onDone(done)}
    >
      {alarm === undefined && (
        <TextField label={texts.name} error={faults.name} autofocus maxLength={255} {...field('name')} />
      )}
      <TextField label={texts.description} maxLength={1_024} {...field('description')} />
      <ConditionFields values={values} field={field} datapointsFault={faults.datapoints} />
      <Select label={texts.missing} options={named(missingData, texts.missings)} {...field('missingData')} />
      <fieldset class="stack tight">
        <legend>{texts.actions}</legend>
        <Switch label={texts.actionsEnabled} hint={texts.actionsHint} {...field('actionsEnabled')} />
        {(['ALARM', 'OK', 'INSUFFICIENT_DATA'] as const).map((state) => (
          <TextField key={state} label={texts.onState[state]} error={faults[state]} rows={1} {...field(state)} />
        ))}
      </fieldset>
    </DialogForm>
  );
}

/** What is compared with what, over how many periods. */
function ConditionFields({
  values,
  field,
  datapointsFault,
}: Form<Draft> & { readonly datapointsFault: string | undefined }) {
  const texts = t.value.alarms;
  const lengths = periods.includes(values.period) ? periods : [values.period, ...periods];
  return (
    <>
      <div class="pair-fields">
        <Select label={texts.metric} options={named(metrics, texts.metrics)} {...field('metric')} />
        <Select
          label={t.value.monitoring.statistic}
          options={named(statistics, t.value.monitoring.statistics)}
          {...field('statistic')}
        />
      </div>
      <div class={isInBytes(values) ? 'pair-fields three' : 'pair-fields'}>
        <Select label={texts.comparison} options={named(comparisons, texts.comparisons)} {...field('comparison')} />
        <TextField label={texts.threshold} inputMode="decimal" {...field('threshold')} />
        {isInBytes(values) && (
          <Select label={texts.unit} options={named(Object.keys(units) as Unit[])} {...field('unit')} />
        )}
      </div>
      <div class="pair-fields three">
        <Select
          label={texts.period}
          options={lengths.map((each) => [each, lengthOf(Number(each))] as const)}
          {...field('period')}
        />
        <TextField label={texts.periods} inputMode="numeric" {...field('evaluationPeriods')} />
        <TextField
          label={texts.datapoints}
          error={datapointsFault}
          inputMode="numeric"
          {...field('datapointsToAlarm')}
        />
      </div>
    </>
  );
}
