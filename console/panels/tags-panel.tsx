import { useState } from 'preact/hooks';
import { PairsEditor, type Pair } from './pairs-editor.tsx';
import { SectionHead } from './section-head.tsx';
import { awsCommand } from '../format/commands.ts';
import { taggingJson } from '../format/documents.ts';
import { t } from '../messages/messages.ts';
import { getTags, putTags, type Tagged } from '../s3/tags.ts';
import { config, session } from '../session/session.ts';
import { useLoaded } from '../ui/loaded.ts';
import { ErrorBox, notify } from '../ui/notices.tsx';
import type { Tag } from '../../shared/documents/tagging.ts';

/** The tags of an object or a bucket, which can be edited. */
export function TagsPanel({
  tagged,
  max,
  limit,
  level,
}: {
  readonly tagged: Tagged;
  readonly max: number;
  /** The text about the maximum number of tags. */
  readonly limit: string;
  readonly level?: 2 | 3;
}) {
  const [editing, setEditing] = useState(false);
  const { client } = session.value!;
  const tags = useLoaded(() => getTags(client, tagged), [client, tagged.bucket, tagged.key]);
  const texts = t.value.details;
  return (
    <section class="stack tight">
      <SectionHead
        title={texts.tags}
        {...(level && { level })}
        onEdit={editing || tags.value === undefined ? undefined : () => setEditing(true)}
      />
      {tags.error !== undefined ? (
        <ErrorBox error={tags.error} retry={tags.reload} />
      ) : tags.value === undefined ? (
        <div class="skeleton" />
      ) : editing ? (
        <>
          <p class="hint">{limit}</p>
          <PairsEditor
            pairs={tags.value.map((tag) => [tag.key, tag.value] as const)}
            names={{ name: texts.tagKey, value: texts.tagValue, add: texts.addTag }}
            max={max}
            commandOf={(pairs) => commandOf(tagged, pairs.map(tagOf))}
            onCancel={() => setEditing(false)}
            onSave={async (pairs) => {
              await putTags(client, tagged, pairs.map(tagOf));
              tags.reload();
              setEditing(false);
              notify(t.value.common.saved);
            }}
          />
        </>
      ) : tags.value.length === 0 ? (
        <p class="muted">{texts.noTags}</p>
      ) : (
        <div class="row wrap">
          {tags.value.map((tag) => (
            <span class="badge" key={tag.key}>
              {tag.key}
              {tag.value !== '' && `: ${tag.value}`}
            </span>
          ))}
        </div>
      )}
    </section>
  );
}

const tagOf = ([key, value]: Pair): Tag => ({ key, value });

function commandOf({ bucket, key, versionId }: Tagged, tags: readonly Tag[]): string {
  const level = key === undefined ? 'bucket' : 'object';
  const words = [`${tags.length === 0 ? 'delete' : 'put'}-${level}-tagging`, '--bucket', bucket];
  if (key !== undefined) words.push('--key', key);
  if (versionId !== undefined) words.push('--version-id', versionId);
  if (tags.length > 0) words.push('--tagging', taggingJson(tags));
  return awsCommand(config.value!, 's3api', ...words);
}
