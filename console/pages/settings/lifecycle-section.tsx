import { useMemo } from 'preact/hooks';
import { awsCommand } from '../../format/commands.ts';
import { lifecycleJson } from '../../format/documents.ts';
import { visibleName } from '../../format/names.ts';
import { number, t } from '../../messages/messages.ts';
import { ContentCount } from '../../panels/content-count.tsx';
import { getVersioning } from '../../s3/buckets.ts';
import { getLifecycle, putLifecycle, type LifecycleRule, type SimpleRule } from '../../s3/lifecycle.ts';
import { config, session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CommandLine, CopyButton } from '../../ui/command-line.tsx';
import { ask, DialogForm } from '../../ui/dialog.tsx';
import { useForm } from '../../ui/form.ts';
import { useLoaded } from '../../ui/loaded.ts';
import { attempt, ErrorBox, notify } from '../../ui/notices.tsx';
import { TextField } from '../../ui/text-field.tsx';

/** The lifecycle rules, which can be added, changed, switched on and off, and removed. Those that the form does not support are only shown. */
export function LifecycleSection({ bucket }: { readonly bucket: string }) {
  const { client } = session.value!;
  const texts = t.value.lifecycle;
  const loaded = useLoaded(async () => {
    const [rules, versioning] = await Promise.all([getLifecycle(client, bucket), getVersioning(client, bucket)]);
    return { rules, isVersioned: versioning !== 'Off' };
  }, [client, bucket]);
  if (loaded.error !== undefined) return <ErrorBox error={loaded.error} retry={loaded.reload} />;
  if (loaded.value === undefined) return <div class="skeleton" />;
  const { rules, isVersioned } = loaded.value;
  const save = (next: readonly LifecycleRule[]): void =>
    void attempt(async () => {
      await putLifecycle(client, bucket, next);
      notify(t.value.common.saved);
      loaded.reload();
    });
  const edit = async (rule: SimpleRule | undefined): Promise<void> => {
    const names = rules.filter((each) => each !== rule).map(({ name }) => name);
    const withRule = (next: SimpleRule): readonly LifecycleRule[] =>
      rule === undefined ? [...rules, next] : rules.map((each) => (each === rule ? next : each));
    const next = await ask<SimpleRule>((answer) => (
      <RuleDialog
        rule={rule}
        taken={names}
        bucket={bucket}
        isVersioned={isVersioned}
        commandOf={(each) => commandOf(bucket, withRule(each))}
        onDone={answer}
      />
    ));
    if (next !== undefined) save(withRule(next));
  };
  return (
    <div class="stack">
      <p class="muted">{texts.hint}</p>
      {rules.map((rule) => (
        <section class="rule" key={rule.name} aria-label={rule.name}>
          <label class="check">
            <input
              type="checkbox"
              role="switch"
              aria-label={texts.isOn(rule.name)}
              checked={rule.isEnabled}
              disabled={rule.kind === 'other'}
              onChange={(event) => {
                const isEnabled = event.currentTarget.checked;
                save(rules.map((each) => (each === rule ? { ...rule, isEnabled } : each)));
              }}
            />
          </label>
          <div class="grow">
            <strong>{visibleName(rule.name)}</strong>
            <div class="muted">{rule.kind === 'simple' ? describe(rule) : texts.other}</div>
          </div>
          {rule.kind === 'simple' && (
            <>
              <CopyButton
                name={`${t.value.common.command}: ${rule.isEnabled ? t.value.common.off : t.value.common.on} ${rule.name}`}
                text={commandOf(
                  bucket,
                  rules.map((each) => (each === rule ? { ...rule, isEnabled: !rule.isEnabled } : each)),
                )}
              />
              <Button kind="quiet" label={`${t.value.details.edit}: ${rule.name}`} onClick={() => void edit(rule)}>
                {t.value.details.edit}
              </Button>
              <Button
                icon="trash"
                label={`${t.value.common.remove}: ${rule.name}`}
                onClick={() => save(rules.filter((each) => each !== rule))}
              />
              <CopyButton
                name={`${t.value.common.command}: ${t.value.common.remove} ${rule.name}`}
                text={commandOf(
                  bucket,
                  rules.filter((each) => each !== rule),
                  'delete',
                )}
              />
            </>
          )}
        </section>
      ))}
      {rules.length === 0 && <p>{texts.none}</p>}
      <div class="row">
        <Button icon="plus" onClick={() => void edit(undefined)}>
          {texts.add}
        </Button>
      </div>
      <CommandLine command={commandOf(bucket, rules)} />
    </div>
  );
}

/** Returns the command that puts the rules, or reads them if there are none, or some are not supported here. */
function commandOf(bucket: string, rules: readonly LifecycleRule[], ifNone: 'get' | 'delete' = 'get'): string {
  if (rules.length === 0 && ifNone === 'delete') {
    return awsCommand(config.value!, 's3api', 'delete-bucket-lifecycle', '--bucket', bucket);
  }
  const json = rules.length === 0 ? undefined : lifecycleJson(rules);
  const verb = json === undefined ? 'get' : 'put';
  const words = [`${verb}-bucket-lifecycle-configuration`, '--bucket', bucket];
  if (json !== undefined) words.push('--lifecycle-configuration', json);
  return awsCommand(config.value!, 's3api', ...words);
}

/** A rule in words. */
function describe({ prefix, days, noncurrentDays }: SimpleRule): string {
  const texts = t.value.lifecycle;
  return [
    prefix === '' ? texts.whole : texts.below(visibleName(prefix)),
    days === undefined ? '' : texts.expires(number(days)),
    noncurrentDays === undefined ? '' : texts.noncurrent(number(noncurrentDays)),
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

function RuleDialog({
  bucket,
  rule,
  taken,
  isVersioned,
  commandOf,
  onDone,
}: {
  readonly bucket: string;
  readonly rule: SimpleRule | undefined;
  readonly taken: readonly string[];
  readonly isVersioned: boolean;
  readonly commandOf: (rule: SimpleRule) => string;
  readonly onDone: (rule: SimpleRule) => void;
}) {
  const texts = t.value.lifecycle;
  const { values, field } = useForm(() => ({
    name: rule?.name ?? '',
    prefix: rule?.prefix ?? '',
    days: String(rule?.days ?? ''),
    noncurrent: String(rule?.noncurrentDays ?? ''),
  }));
  const { prefix, days, noncurrent } = values;
  const name = values.name.trim();
  const isDays = (text: string): boolean => /^[1-9]\d{0,5}$/.test(text);
  const isBad = [days, noncurrent].some((text) => text !== '' && !isDays(text));
  const concerned = useMemo(() => [{ kind: 'folder', key: prefix } as const], [prefix]);
  const isTaken = taken.includes(name);
  const isReady = name !== '' && !isTaken && !isBad && (days !== '' || noncurrent !== '');
  const done: SimpleRule = {
    kind: 'simple',
    name,
    prefix,
    days: days === '' ? undefined : Number(days),
    noncurrentDays: noncurrent === '' ? undefined : Number(noncurrent),
    isEnabled: rule?.isEnabled ?? true,
  };
  return (
    <DialogForm
      commands={isReady ? [{ command: commandOf(done) }] : []}
      title={rule === undefined ? texts.add : texts.edit}
      submit={t.value.common.save}
      disabled={!isReady}
      onSubmit={() => onDone(done)}
    >
      <TextField
        label={texts.name}
        error={isTaken ? texts.taken : undefined}
        autofocus
        maxLength={255}
        {...field('name')}
      />
      <TextField label={texts.prefix} hint={texts.prefixHint} {...field('prefix')} />
      <div>
        <p>{texts.concerns}</p>
        <ContentCount bucket={bucket} entries={concerned} />
      </div>
      <TextField
        label={texts.days}
        hint={isVersioned ? texts.daysVersioned : texts.daysUnversioned}
        inputMode="numeric"
        {...field('days')}
      />
      <TextField
        label={texts.noncurrentDays}
        hint={isVersioned ? texts.noncurrentHint : texts.noncurrentOff}
        inputMode="numeric"
        disabled={!isVersioned}
        {...field('noncurrent')}
      />
    </DialogForm>
  );
}
