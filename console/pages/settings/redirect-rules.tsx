import { visibleName } from '../../format/names.ts';
import { t } from '../../messages/messages.ts';
import { RuleRow } from '../../panels/rule-row.tsx';
import type { RedirectRule } from '../../s3/website.ts';
import { Button } from '../../ui/button.tsx';
import { ask, DialogForm } from '../../ui/dialog.tsx';
import { useForm } from '../../ui/form.ts';
import { named, Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';

const errorCodes = ['400', '403', '404', '405', '500', '503'] as const;
const codes = ['301', '302', '303', '307', '308'] as const;

const newRule: RedirectRule = {
  prefix: '',
  errorCode: '',
  protocol: '',
  host: '',
  replacePrefix: undefined,
  replaceKey: '',
  code: '',
};

/** Returns whether a text is a host name or address, with or without a port, and not a URL or a path. */
export const isHost = (text: string): boolean => /^[\w.-]+(?::\d{1,5})?$|^\[[\da-f:.]+\](?::\d{1,5})?$/i.test(text);

/** The protocols of a redirect, as options. */
export const protocolOptions = () => named(['', 'https', 'http'], { '': t.value.website.sameProtocol });

/** The redirect rules of a website, which are saved with the rest of its form. */
export function RedirectRules({
  rules,
  commandOf,
  onChange,
}: {
  readonly rules: readonly RedirectRule[];
  /** Returns the command that saves the form with these rules. */
  readonly commandOf: (rules: readonly RedirectRule[]) => string;
  readonly onChange: (rules: readonly RedirectRule[]) => void;
}) {
  const texts = t.value.website;
  const edit = async (at: number): Promise<void> => {
    const before = rules[at];
    const withRule = (rule: RedirectRule) => (before === undefined ? [...rules, rule] : rules.with(at, rule));
    const rule = await ask<RedirectRule>((answer) => (
      <RuleDialog rule={before} commandOf={(each) => commandOf(withRule(each))} onDone={answer} />
    ));
    if (rule !== undefined) onChange(withRule(rule));
  };
  return (
    <section class="stack tight">
      <h2>{texts.rules}</h2>
      <p class="hint">{texts.rulesHint}</p>
      {rules.map((rule, at) => (
        <RuleRow
          key={at}
          label={`${texts.rules} ${at + 1}`}
          editLabel={texts.editRuleAt(at + 1)}
          removeLabel={texts.removeRule(at + 1)}
          onEdit={() => void edit(at)}
          onRemove={() => onChange(rules.toSpliced(at, 1))}
          removeCommand={undefined}
        >
          <strong>{conditionOf(rule)}</strong>
          <div class="muted">{targetOf(rule)}</div>
        </RuleRow>
      ))}
      {rules.length === 0 && <p class="muted">{texts.noRules}</p>}
      <div class="row">
        <Button icon="plus" onClick={() => void edit(rules.length)}>
          {texts.addRule}
        </Button>
      </div>
    </section>
  );
}

function conditionOf({ prefix, errorCode }: RedirectRule): string {
  const texts = t.value.website;
  const parts = [
    prefix === '' ? '' : texts.pathBegins(visibleName(prefix)),
    errorCode === '' ? '' : texts.responseIs(errorCode),
  ].filter((part) => part !== '');
  return parts.length === 0 ? texts.everyRequest : parts.join(', ');
}

/** `→ 302 https://www.example.com/documents/…` */
function targetOf({ protocol, host, replacePrefix, replaceKey, code }: RedirectRule): string {
  const path = replaceKey !== '' ? replaceKey : `${replacePrefix ?? ''}…`;
  const origin = `${protocol === '' ? '' : `${protocol}:`}${protocol === '' && host === '' ? '' : '//'}${host}`;
  return `→ ${code || '301'} ${visibleName(`${origin}/${path}`)}`;
}

const replacementOf = ({ replacePrefix, replaceKey }: RedirectRule): 'path' | 'prefix' | 'key' =>
  replaceKey !== '' ? 'key' : replacePrefix !== undefined ? 'prefix' : 'path';

function RuleDialog({
  rule,
  commandOf,
  onDone,
}: {
  readonly rule: RedirectRule | undefined;
  readonly commandOf: (rule: RedirectRule) => string;
  readonly onDone: (rule: RedirectRule) => void;
}) {
  const texts = t.value.website;
  const { values, field } = useForm(() => {
    const before = rule ?? newRule;
    return { ...before, replacePrefix: before.replacePrefix ?? '', replacement: replacementOf(before) };
  });
  const { replacement, ...next } = values;
  const done: RedirectRule = {
    ...next,
    host: next.host.trim(),
    replacePrefix: replacement === 'prefix' ? next.replacePrefix : undefined,
    replaceKey: replacement === 'key' ? next.replaceKey : '',
  };
  const isBadHost = done.host !== '' && !isHost(done.host);
  const isNothing =
    done.host === '' &&
    done.protocol === '' &&
    (replacement === 'path' || (replacement === 'key' && done.replaceKey === ''));
  const own = <T extends string>(known: readonly T[], value: string): readonly string[] =>
    value === '' || (known as readonly string[]).includes(value) ? known : [...known, value];
  return (
    <DialogForm
      commands={!isBadHost && !isNothing ? [{ command: commandOf(done) }] : []}
      title={rule === undefined ? texts.addRule : texts.editRule}
      submit={t.value.common.save}
      disabled={isBadHost || isNothing}
      onSubmit={() => onDone(done)}
    >
      <TextField label={texts.prefix} hint={texts.prefixHint} autofocus {...field('prefix')} />
      <Select
        label={texts.errorCode}
        options={[
          ['', texts.anyResponse],
          ...own(errorCodes, next.errorCode).map((code) => [code, texts.status(code)] as const),
        ]}
        {...field('errorCode')}
      />
      <Select
        label={texts.replace}
        options={[
          ['path', texts.samePath],
          ['prefix', texts.withPrefix],
          ['key', texts.withKey],
        ]}
        {...field('replacement')}
      />
      {replacement === 'prefix' && <TextField label={texts.replacePrefix} {...field('replacePrefix')} />}
      {replacement === 'key' && <TextField label={texts.replaceKey} {...field('replaceKey')} />}
      <TextField
        label={texts.targetHost}
        hint={texts.targetHostHint}
        error={isBadHost ? texts.hostBad : undefined}
        {...field('host')}
      />
      <div class="pair-fields">
        <Select label={texts.protocol} options={protocolOptions()} {...field('protocol')} />
        <Select
          label={texts.code}
          options={named(own(codes, next.code))}
          {...field('code')}
          value={next.code || '301'}
        />
      </div>
      {isNothing && <p class="hint">{texts.nothing}</p>}
    </DialogForm>
  );
}
