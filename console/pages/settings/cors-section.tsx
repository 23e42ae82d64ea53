import { isOriginPattern } from './origin-pattern.ts';
import { awsCommand } from '../../format/commands.ts';
import { corsJson } from '../../format/documents.ts';
import { number, t } from '../../messages/messages.ts';
import { RuleRow } from '../../panels/rule-row.tsx';
import { getCors, putCors } from '../../s3/cors.ts';
import { config, session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CommandLine } from '../../ui/command-line.tsx';
import { ask, DialogForm } from '../../ui/dialog.tsx';
import { useForm } from '../../ui/form.ts';
import { linesOf } from '../../ui/lines.ts';
import { useLoaded } from '../../ui/loaded.ts';
import { attempt, ErrorBox, notify } from '../../ui/notices.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { corsMethods, type CorsRule } from '../../../shared/documents/cors.ts';

/** The CORS rules: which pages of other origins may use a bucket. */
export function CorsSection({ bucket }: { readonly bucket: string }) {
  const { client } = session.value!;
  const texts = t.value.cors;
  const loaded = useLoaded(() => getCors(client, bucket), [client, bucket]);
  if (loaded.error !== undefined) return <ErrorBox error={loaded.error} retry={loaded.reload} />;
  if (loaded.value === undefined) return <div class="skeleton" />;
  const rules = loaded.value;
  const save = (next: readonly CorsRule[]): void =>
    void attempt(async () => {
      await putCors(client, bucket, next);
      notify(t.value.common.saved);
      loaded.reload();
    });
  const edit = async (at: number): Promise<void> => {
    const before = rules[at];
    const withRule = (rule: CorsRule) => (before === undefined ? [...rules, rule] : rules.with(at, rule));
    const rule = await ask<CorsRule>((answer) => (
      <RuleDialog rule={before} commandOf={(each) => commandOf(bucket, withRule(each))} onDone={answer} />
    ));
    if (rule !== undefined) save(withRule(rule));
  };
  return (
    <div class="stack">
      <p class="muted">{texts.hint}</p>
      {rules.map((rule, at) => (
        <RuleRow
          key={at}
          label={`CORS ${at + 1}`}
          editLabel={texts.editAt(at + 1)}
          removeLabel={texts.removeAt(at + 1)}
          onEdit={() => void edit(at)}
          onRemove={() => save(rules.toSpliced(at, 1))}
          removeCommand={commandOf(bucket, rules.toSpliced(at, 1), 'delete')}
        >
          <strong class="wrap-anywhere">{rule.origins.join(', ')}</strong>
          <div class="muted wrap-anywhere">{describe(rule)}</div>
        </RuleRow>
      ))}
      {rules.length === 0 && <p>{texts.none}</p>}
      <div class="row">
        <Button icon="plus" onClick={() => void edit(rules.length)}>
          {texts.add}
        </Button>
      </div>
      <CommandLine command={commandOf(bucket, rules)} />
    </div>
  );
}

/** Returns the command that puts the rules. If there are none, returns the one that reads or deletes them. */
function commandOf(bucket: string, rules: readonly CorsRule[], ifNone: 'get' | 'delete' = 'get'): string {
  const words =
    rules.length === 0
      ? [`${ifNone}-bucket-cors`, '--bucket', bucket]
      : ['put-bucket-cors', '--bucket', bucket, '--cors-configuration', corsJson(rules)];
  return awsCommand(config.value!, 's3api', ...words);
}

function describe({ methods, headers = [], expose = [], maxAge }: CorsRule): string {
  const texts = t.value.cors;
  return [
    methods.join(', '),
    headers.length === 0 ? '' : texts.allows(headers.join(', ')),
    expose.length === 0 ? '' : texts.exposes(expose.join(', ')),
    maxAge === undefined ? '' : texts.seconds(number(maxAge)),
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

function RuleDialog({
  rule,
  commandOf,
  onDone,
}: {
  readonly rule: CorsRule | undefined;
  readonly commandOf: (rule: CorsRule) => string;
  readonly onDone: (rule: CorsRule) => void;
}) {
  const texts = t.value.cors;
  const { values, field } = useForm(() => ({
    origins: rule?.origins.join('\n') ?? '',
    methods: rule?.methods ?? ['GET'],
    headers: rule?.headers?.join('\n') ?? '',
    expose: rule?.expose?.join('\n') ?? '',
    maxAge: String(rule?.maxAge ?? ''),
  }));
  const { origins, methods, headers, expose, maxAge } = values;
  const bad = linesOf(origins).find((origin) => !isOriginPattern(origin));
  const isBadAge = maxAge !== '' && !/^\d{1,9}$/.test(maxAge);
  const isReady = linesOf(origins).length > 0 && bad === undefined && methods.length > 0 && !isBadAge;
  const done: CorsRule = {
    ...(rule?.id !== undefined && { id: rule.id }),
    origins: linesOf(origins),
    methods,
    ...(linesOf(headers).length > 0 && { headers: linesOf(headers) }),
    ...(linesOf(expose).length > 0 && { expose: linesOf(expose) }),
    ...(maxAge !== '' && { maxAge: Number(maxAge) }),
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
        label={texts.origins}
        hint={texts.originsHint}
        error={bad === undefined ? undefined : texts.originBad(bad)}
        rows={3}
        autofocus
        {...field('origins')}
      />
      <fieldset class="choices">
        <legend>{texts.methods}</legend>
        {corsMethods.map((method) => (
          <label class="check" key={method}>
            <input
              type="checkbox"
              checked={methods.includes(method)}
              onChange={(event) => {
                const isOn = event.currentTarget.checked;
                field('methods').onInput(
                  corsMethods.filter((each) => (each === method ? isOn : methods.includes(each))),
                );
              }}
            />
            {method}
          </label>
        ))}
      </fieldset>
      <TextField label={texts.headers} hint={texts.headersHint} rows={2} {...field('headers')} />
      <TextField label={texts.expose} hint={texts.exposeHint} rows={2} {...field('expose')} />
      <TextField label={texts.maxAge} hint={texts.maxAgeHint} inputMode="numeric" {...field('maxAge')} />
    </DialogForm>
  );
}
