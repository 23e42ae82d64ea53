import { useState } from 'preact/hooks';
import { LockPanel, type HeadProps } from './lock-panel.tsx';
import { awsCommand } from '../../../format/commands.ts';
import { downloadCommand } from '../../../format/object-commands.ts';
import { exactDate, number, size, t } from '../../../messages/messages.ts';
import { PairsEditor, type Pair } from '../../../panels/pairs-editor.tsx';
import { SectionHead } from '../../../panels/section-head.tsx';
import { TagsPanel } from '../../../panels/tags-panel.tsx';
import { encodePath } from '../../../s3/address.ts';
import { encodeMetadata } from '../../../s3/header-text.ts';
import { replaceHeaders, standardHeaders, type ObjectHead, type Place, type Stored } from '../../../s3/objects.ts';
import { config, session } from '../../../session/session.ts';
import { noteChange } from '../../../transfers/queue.ts';
import { CommandLine, CopyButton } from '../../../ui/command-line.tsx';
import { notify } from '../../../ui/notices.tsx';

/** The properties of an object: size, headers, metadata, tags, checksums. */
export function PropertiesTab({ place, object }: HeadProps) {
  const { bucket, key } = place;
  const target = config.value!;
  const texts = t.value.details;
  const address = `${target.endpoint}${encodePath(`/${bucket}/${key}`)}`;
  return (
    <>
      <section>
        <dl class="details-list">
          <dt>{texts.size}</dt>
          <dd>
            {size(object.size)} <span class="muted">({number(object.size)} B)</span>
          </dd>
          <dt>{texts.modified}</dt>
          <dd>{exactDate(object.modified)}</dd>
          <dt>{texts.etag}</dt>
          <dd class="mono">{object.etag}</dd>
          <dt>{texts.versionId}</dt>
          <dd class="mono">{object.versionId}</dd>
          <dt>{texts.storageClass}</dt>
          <dd>{object.storageClass}</dd>
          <dt>{texts.encryption}</dt>
          <dd>
            {object.encryption === ''
              ? texts.noEncryption
              : object.encryption === 'SSE-C'
                ? texts.sseC
                : object.encryption}
          </dd>
          {Object.entries(object.checksums).map(([algorithm, value]) => (
            <>
              <dt>{texts.checksum(algorithm.toUpperCase())}</dt>
              <dd class="mono">{value}</dd>
            </>
          ))}
          {object.expiration !== '' && (
            <>
              <dt>{texts.expires}</dt>
              <dd>{object.expiration}</dd>
            </>
          )}
          <dt>{texts.address}</dt>
          <dd class="row">
            <span class="mono grow">{address}</span>
            <CopyButton text={address} />
          </dd>
        </dl>
      </section>
      <Headers place={place} object={object} />
      <Metadata place={place} object={object} />
      <LockPanel place={place} object={object} />
      <TagsPanel tagged={place} max={10} limit={texts.tagLimit} />
      <section>
        <CommandLine command={awsCommand(target, 's3api', 'head-object', '--bucket', bucket, '--key', key)} />
        <CommandLine
          label={`${t.value.common.command}: ${t.value.objects.download}`}
          command={downloadCommand(target, bucket, { kind: 'object', key })}
        />
      </section>
    </>
  );
}

function Headers({ place, object }: HeadProps) {
  const [editing, setEditing] = useState(false);
  const { client } = session.value!;
  const texts = t.value.details;
  const shown = Object.entries(object.headers);
  return (
    <section>
      <SectionHead title={texts.headers} onEdit={editing ? undefined : () => setEditing(true)} />
      {editing ? (
        <>
          <p class="hint">{texts.headersReset}</p>
          <PairsEditor
            fixedNames
            pairs={standardHeaders.map((name) => [name, object.headers[name] ?? ''] as const)}
            names={{ name: texts.metaName, value: texts.metaValue, add: t.value.common.add }}
            max={standardHeaders.length}
            commandOf={(pairs) => replaceCommand(place, { ...object, headers: headersOf(pairs) })}
            onCancel={() => setEditing(false)}
            onSave={async (pairs) => {
              await replaceHeaders(client, place, { ...object, headers: headersOf(pairs) });
              done(place);
              setEditing(false);
            }}
          />
        </>
      ) : (
        <dl class="details-list">
          {shown.map(([name, value]) => (
            <>
              <dt class="mono">{name}</dt>
              <dd class="mono">{value}</dd>
            </>
          ))}
        </dl>
      )}
    </section>
  );
}

function Metadata({ place, object }: HeadProps) {
  const [editing, setEditing] = useState(false);
  const { client } = session.value!;
  const texts = t.value.details;
  const shown = Object.entries(object.metadata);
  return (
    <section>
      <SectionHead title={texts.metadata} onEdit={editing ? undefined : () => setEditing(true)} />
      {editing ? (
        <>
          <p class="hint">
            {texts.metadataHint} {texts.headersReset}
          </p>
          <PairsEditor
            pairs={shown}
            names={{ name: texts.metaName, value: texts.metaValue, add: t.value.common.add }}
            max={100}
            commandOf={(pairs) => replaceCommand(place, { ...object, metadata: Object.fromEntries(pairs) })}
            onCancel={() => setEditing(false)}
            onSave={async (pairs) => {
              await replaceHeaders(client, place, { ...object, metadata: Object.fromEntries(pairs) });
              done(place);
              setEditing(false);
            }}
          />
        </>
      ) : shown.length === 0 ? (
        <p class="muted">{texts.noMetadata}</p>
      ) : (
        <dl class="details-list">
          {shown.map(([name, value]) => (
            <>
              <dt class="mono">{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
        </dl>
      )}
    </section>
  );
}

/** Headers without a value are removed. */
const headersOf = (pairs: readonly Pair[]) => Object.fromEntries(pairs.filter(([, value]) => value !== ''));

/** Returns the command that copies an object onto itself with other headers and metadata. */
function replaceCommand(
  { bucket, key }: Place,
  { headers, metadata, encryption, storageClass }: Stored & Pick<ObjectHead, 'headers' | 'metadata'>,
): string {
  const words = ['copy-object', '--bucket', bucket, '--key', key, '--copy-source', encodePath(`${bucket}/${key}`)];
  words.push('--metadata-directive', 'REPLACE');
  for (const [name, value] of Object.entries(headers)) words.push(`--${name}`, value);
  const encoded = Object.entries(metadata).map(([name, value]) => [name, encodeMetadata(value)] as const);
  if (encoded.length > 0) words.push('--metadata', JSON.stringify(Object.fromEntries(encoded)));
  if (encryption === 'AES256') words.push('--server-side-encryption', encryption);
  if (storageClass !== 'STANDARD') words.push('--storage-class', storageClass);
  return awsCommand(config.value!, 's3api', ...words);
}

/** The details read the object again, as lists do. */
function done({ bucket }: Place): void {
  noteChange(bucket);
  notify(t.value.common.saved);
}
