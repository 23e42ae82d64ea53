import { encryptionCommand, versioningCommand } from '../../format/documents.ts';
import { number, size, t } from '../../messages/messages.ts';
import { TagsPanel } from '../../panels/tags-panel.tsx';
import { getQuota } from '../../s3/account.ts';
import { getEncryption, getVersioning, headBucket, putEncryption, putVersioning } from '../../s3/buckets.ts';
import { loadFacts } from '../../session/known-buckets.ts';
import { config, session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CommandLine } from '../../ui/command-line.tsx';
import { useLoaded } from '../../ui/loaded.ts';
import { Meter } from '../../ui/meter.tsx';
import { attempt, ErrorBox, notify } from '../../ui/notices.tsx';

/** The usage and quota of a bucket, its versioning, default encryption and tags. */
export function OverviewSection({ bucket }: { readonly bucket: string }) {
  const { client } = session.value!;
  const texts = t.value.settings;
  const loaded = useLoaded(async () => {
    const [use, quota, versioning, encrypted] = await Promise.all([
      headBucket(client, bucket),
      getQuota(client, bucket).catch(() => undefined),
      getVersioning(client, bucket),
      getEncryption(client, bucket).catch(() => false),
    ]);
    return { use, quota, versioning, encrypted };
  }, [client, bucket]);
  if (loaded.error !== undefined) return <ErrorBox error={loaded.error} retry={loaded.reload} />;
  if (loaded.value === undefined) return <div class="skeleton" />;
  const { use, quota, versioning, encrypted } = loaded.value;
  const change = (act: () => Promise<void>): void =>
    void attempt(async () => {
      await act();
      notify(t.value.common.saved);
      loaded.reload();
      await loadFacts(client, bucket, true);
    });
  const status = versioning === 'Enabled' ? 'Suspended' : 'Enabled';
  return (
    <div class="stack">
      <section class="stack tight">
        <h2>{texts.use}</h2>
        {quota ? (
          <>
            <div class="quotas">
              <Meter
                text={texts.quotaBytes(size(quota.bytesCounted), size(quota.bytesLimit))}
                part={quota.bytesCounted / quota.bytesLimit}
              />
              <Meter
                text={texts.quotaObjects(number(quota.objects), number(quota.objectsLimit))}
                part={quota.objects / quota.objectsLimit}
              />
            </div>
            <p>{texts.quotaShares(size(quota.bytesOfVersions), size(quota.bytesBesides))}</p>
            {quota.isMet && <p class="hint bad">{texts.quotaIsMet}</p>}
            <p class="hint">{texts.quotaHint}</p>
          </>
        ) : (
          <p>
            {size(use.bytes)}, {t.value.common.objects(use.objects, number(use.objects))}
          </p>
        )}
      </section>
      <section class="stack tight">
        <h2>{texts.versioning}</h2>
        <p>{texts[`versioning${versioning}`]}</p>
        <div class="row">
          <Button onClick={() => change(() => putVersioning(client, bucket, status))}>
            {versioning === 'Enabled' ? texts.suspend : texts.enable}
          </Button>
        </div>
        <CommandLine command={versioningCommand(config.value!, bucket, status)} />
      </section>
      <section class="stack tight">
        <h2>{texts.encryption}</h2>
        <p>{encrypted ? texts.encryptionOn : texts.encryptionOff}</p>
        <div class="row">
          <Button onClick={() => change(() => putEncryption(client, bucket, !encrypted))}>
            {encrypted ? texts.turnOff : texts.enable}
          </Button>
        </div>
        <CommandLine command={encryptionCommand(config.value!, bucket, !encrypted)} />
      </section>
      <TagsPanel tagged={{ bucket }} max={50} limit={texts.bucketTagLimit} level={2} />
    </div>
  );
}
