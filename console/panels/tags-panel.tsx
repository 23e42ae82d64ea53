import { useState } from 'preact/hooks';
import { PairsEditor } from './pairs-editor.tsx';
import { SectionHead } from './section-head.tsx';
import { t } from '../messages/messages.ts';
import { getTags, putTags, type Tagged } from '../s3/tags.ts';
import { session } from '../session/session.ts';
import { useLoaded } from '../ui/loaded.ts';
import { ErrorBox, notify } from '../ui/notices.tsx';

/** The tags of an object or a bucket, which can be edited. */
export function TagsPanel({
  tagged,
  max,
  limit,
  level,
}: {
  readonly tagged: Tagged;
  readonly max: number;
  /** Says how many there can be. */
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
            onCancel={() => setEditing(false)}
            onSave={async (pairs) => {
              await putTags(
                client,
                tagged,
                pairs.map(([key, value]) => ({ key, value })),
              );
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
