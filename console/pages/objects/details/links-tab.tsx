import { useState } from 'preact/hooks';
import { curlCommand, awsCommand } from '../../../format/commands.ts';
import { date, exactDate, t } from '../../../messages/messages.ts';
import { createPublicLink, deletePublicLink, listPublicLinks, type PublicLink } from '../../../s3/access.ts';
import type { Place } from '../../../s3/objects.ts';
import { config, session } from '../../../session/session.ts';
import { CommandLine } from '../../../ui/command-line.tsx';
import { Field } from '../../../ui/dialog.tsx';
import { useLoaded } from '../../../ui/loaded.ts';
import { attempt, ErrorBox } from '../../../ui/notices.tsx';

const hour = 3_600;

/** Links for those who have no key: public ones that can be revoked, and presigned URLs. */
export function LinksTab({ place }: { readonly place: Place }) {
  return (
    <>
      <PublicLinks place={place} />
      <Presigned place={place} />
    </>
  );
}

function PublicLinks({ place }: { readonly place: Place }) {
  const { client } = session.value!;
  const { bucket, key } = place;
  const [hours, setHours] = useState(24);
  const [made, setMade] = useState<PublicLink>();
  const links = useLoaded(() => listPublicLinks(client, place), [client, bucket, key]);
  const texts = t.value.details;
  const request = { method: 'POST', bucket, key, query: { 'public-link': '', expires: String(hours * hour) } } as const;
  return (
    <section class="stack tight">
      <h3>{texts.publicLinks}</h3>
      <p class="hint">{texts.publicLinksHint}</p>
      <div class="row">
        <select
          aria-label={texts.linkFor}
          value={hours}
          onChange={(event) => setHours(Number(event.currentTarget.value))}
        >
          {[1, 4, 12, 24].map((each) => (
            <option key={each} value={each}>
              {texts.hours(each)}
            </option>
          ))}
        </select>
        <button
          type="button"
          class="primary"
          onClick={() =>
            void attempt(async () => {
              setMade(await createPublicLink(client, place, hours * hour));
              links.reload();
            })
          }
        >
          {texts.newLink}
        </button>
      </div>
      {made?.url !== undefined && (
        <>
          <CommandLine command={made.url} label={texts.publicLinks} />
          <p class="hint">{texts.linkOnce}</p>
        </>
      )}
      {links.error !== undefined && <ErrorBox error={links.error} retry={links.reload} />}
      {links.value?.length === 0 && <p class="muted">{texts.noLinks}</p>}
      {links.value?.map((link) => (
        <div class="version" key={link.id}>
          <div title={exactDate(link.expires)}>{texts.linkEnds(date(link.expires))}</div>
          <div class="small muted mono">{link.id}</div>
          <div class="row">
            <button
              type="button"
              onClick={() =>
                void attempt(async () => {
                  await deletePublicLink(client, place, link.id);
                  if (made?.id === link.id) setMade(undefined);
                  links.reload();
                })
              }
            >
              {texts.revoke}
            </button>
          </div>
        </div>
      ))}
      <CommandLine command={curlCommand(config.value!, request)} label="curl" />
    </section>
  );
}

function Presigned({ place }: { readonly place: Place }) {
  const { client } = session.value!;
  const { bucket, key } = place;
  const [method, setMethod] = useState<'GET' | 'PUT'>('GET');
  const [hours, setHours] = useState(1);
  const [url, setUrl] = useState('');
  const texts = t.value.details;
  const words = ['s3', 'presign', `s3://${bucket}/${key}`, '--expires-in', String(hours * hour)];
  return (
    <section class="stack tight">
      <h3>{texts.presigned}</h3>
      <p class="hint">{texts.presignedHint}</p>
      <Field label={texts.presignedMethod}>
        {(ids) => (
          <select {...ids} value={method} onChange={(event) => setMethod(event.currentTarget.value as 'GET' | 'PUT')}>
            <option value="GET">{texts.presignedGet}</option>
            <option value="PUT">{texts.presignedPut}</option>
          </select>
        )}
      </Field>
      <div class="row">
        <select
          aria-label={texts.linkFor}
          value={hours}
          onChange={(event) => setHours(Number(event.currentTarget.value))}
        >
          {[1, 4, 24, 168].map((each) => (
            <option key={each} value={each}>
              {texts.hours(each)}
            </option>
          ))}
        </select>
        <button
          type="button"
          onClick={() =>
            void attempt(async () => {
              setUrl(await client.presigned({ method, bucket, key }, hours * hour));
            })
          }
        >
          {texts.makeUrl}
        </button>
      </div>
      {url !== '' && <CommandLine command={url} label={texts.presigned} />}
      {method === 'GET' && <CommandLine command={awsCommand(config.value!, ...words)} />}
    </section>
  );
}
