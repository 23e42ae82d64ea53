import { EventDeliveries } from './event-deliveries.tsx';
import { askEventRule } from './event-rule-dialog.tsx';
import { WebhooksList } from './webhooks-list.tsx';
import { awsCommand } from '../../format/commands.ts';
import { notificationJson } from '../../format/documents.ts';
import { visibleName } from '../../format/names.ts';
import { eventTexts } from '../../messages/events.ts';
import { t } from '../../messages/messages.ts';
import { RuleRow } from '../../panels/rule-row.tsx';
import { getNotification, listWebhooks, putNotification, type Webhook } from '../../s3/events.ts';
import { isFailure } from '../../s3/failure.ts';
import { config, session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CommandLine } from '../../ui/command-line.tsx';
import { useLoaded } from '../../ui/loaded.ts';
import { attempt, ErrorBox, notify } from '../../ui/notices.tsx';
import type { NotificationConfiguration, UnnamedNotificationRule } from '../../../shared/documents/notification.ts';

/** The events of a bucket: who is told what, the webhooks of the project, and what was not delivered. */
export function EventsSection({ bucket }: { readonly bucket: string }) {
  const { client } = session.value!;
  const texts = eventTexts.value.events;
  const loaded = useLoaded(async () => {
    const [configuration, webhooks] = await Promise.all([
      getNotification(client, bucket),
      // Rights to webhooks are apart from those to a bucket.
      listWebhooks(client).catch((error: unknown) => {
        if (isFailure(error, 'AccessDenied')) return undefined;
        throw error;
      }),
    ]);
    return { configuration, webhooks };
  }, [client, bucket]);
  if (loaded.error !== undefined) return <ErrorBox error={loaded.error} retry={loaded.reload} />;
  if (loaded.value === undefined) return <div class="skeleton" />;
  const { configuration, webhooks } = loaded.value;
  return (
    <div class="stack">
      <p class="muted">{texts.hint}</p>
      <Rules bucket={bucket} configuration={configuration} webhooks={webhooks ?? []} onSaved={loaded.reload} />
      {webhooks === undefined ? (
        <p class="muted">{texts.noRight}</p>
      ) : (
        <WebhooksList webhooks={webhooks} onChanged={loaded.reload} />
      )}
      <EventDeliveries bucket={bucket} />
    </div>
  );
}

function Rules({
  bucket,
  configuration,
  webhooks,
  onSaved,
}: {
  readonly bucket: string;
  readonly configuration: NotificationConfiguration;
  readonly webhooks: readonly Webhook[];
  readonly onSaved: () => void;
}) {
  const { client } = session.value!;
  const texts = eventTexts.value.events;
  const { rules } = configuration;
  const save = (next: readonly UnnamedNotificationRule[]): void =>
    void attempt(async () => {
      await putNotification(client, bucket, { ...configuration, rules: next });
      notify(t.value.common.saved);
      onSaved();
    });
  const commandFor = (next: readonly UnnamedNotificationRule[]): string =>
    awsCommand(
      config.value!,
      ...['s3api', 'put-bucket-notification-configuration', '--bucket', bucket],
      ...['--notification-configuration', notificationJson({ ...configuration, rules: next })],
    );
  const edit = async (at: number): Promise<void> => {
    const before = rules[at];
    const withRule = (rule: UnnamedNotificationRule) =>
      before === undefined ? [...rules, rule] : rules.with(at, rule);
    const rule = await askEventRule(before, webhooks, (each) => commandFor(withRule(each)));
    if (rule !== undefined) save(withRule(rule));
  };
  const isUsable = webhooks.length > 0;
  return (
    <section class="stack" aria-labelledby="event-rules">
      <h2 id="event-rules">{texts.rules}</h2>
      {rules.map((rule, at) => (
        <RuleRow
          key={at}
          label={texts.ruleAt(at + 1)}
          editLabel={texts.editRuleAt(at + 1)}
          removeLabel={texts.removeRuleAt(at + 1)}
          onEdit={() => void edit(at)}
          onRemove={() => save(rules.toSpliced(at, 1))}
          removeCommand={commandFor(rules.toSpliced(at, 1))}
        >
          <strong class="wrap-anywhere">{rule.events.map(eventWords).join(', ')}</strong>
          <div class="muted wrap-anywhere">
            {texts.about(visibleName(rule.prefix ?? ''), visibleName(rule.suffix ?? ''))} ·{' '}
            {texts.tells(targetName(rule.target))}
          </div>
        </RuleRow>
      ))}
      {rules.length === 0 && <p>{texts.noRules}</p>}
      <div class="row">
        <Button icon="plus" disabled={!isUsable} onClick={() => void edit(rules.length)}>
          {texts.addRule}
        </Button>
        {!isUsable && <span class="muted">{texts.noTarget}</span>}
      </div>
      <CommandLine
        command={
          rules.length > 0
            ? commandFor(rules)
            : awsCommand(config.value!, 's3api', 'get-bucket-notification-configuration', '--bucket', bucket)
        }
      />
    </section>
  );
}

/** Returns the words for an event, or its own name. */
function eventWords(event: string): string {
  return (eventTexts.value.events.kinds as Readonly<Record<string, string | undefined>>)[event] ?? event;
}

/** Returns the last part of an ARN. */
const targetName = (arn: string): string => visibleName(arn.slice(arn.lastIndexOf(':') + 1));
