import { awsCommand } from '../../format/commands.ts';
import { t } from '../../messages/messages.ts';
import { getPublicAccessBlock, publicAccessSwitches, putPublicAccessBlock, switchElement } from '../../s3/access.ts';
import { loadFacts } from '../../session/known-buckets.ts';
import { config, session } from '../../session/session.ts';
import { CopyButton } from '../../ui/command-line.tsx';
import { useLoaded } from '../../ui/loaded.ts';
import { attempt, ErrorBox, notify } from '../../ui/notices.tsx';
import { Switch } from '../../ui/switch.tsx';

/** The four switches that override ACLs and policies. */
export function PublicAccessBlockSection({ bucket }: { readonly bucket: string }) {
  const { client } = session.value!;
  const texts = t.value.settings;
  const loaded = useLoaded(() => getPublicAccessBlock(client, bucket), [client, bucket]);
  const block = loaded.value;
  const words = ['s3api', 'put-public-access-block', '--bucket', bucket, '--public-access-block-configuration'];
  return (
    <section class="stack tight">
      <h2>{texts.blockPublic}</h2>
      <p class="hint">{texts.blockPublicHint}</p>
      {loaded.error !== undefined && <ErrorBox error={loaded.error} retry={loaded.reload} />}
      {block &&
        publicAccessSwitches.map((name) => {
          const next = { ...block, [name]: !block[name] };
          const label = texts.block[name];
          return (
            <div class="row" key={name}>
              <div class="grow">
                <Switch
                  label={label}
                  value={block[name]}
                  onInput={() =>
                    void attempt(async () => {
                      await putPublicAccessBlock(client, bucket, next);
                      notify(t.value.common.saved);
                      void loadFacts(client, bucket, true);
                    }).then(loaded.reload)
                  }
                />
              </div>
              <CopyButton
                name={`${t.value.common.command}: ${next[name] ? t.value.common.on : t.value.common.off}: ${label}`}
                text={awsCommand(
                  config.value!,
                  ...words,
                  publicAccessSwitches.map((each) => `${switchElement(each)}=${next[each]}`).join(','),
                )}
              />
            </div>
          );
        })}
    </section>
  );
}
