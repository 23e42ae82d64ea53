import { useState } from 'preact/hooks';
import { createLinkCommand, curlOfUrl, presignCommand, revokeLinkCommand } from '../../../format/object-commands.ts';
import { date, exactDate, t } from '../../../messages/messages.ts';
import { createPublicLink, deletePublicLink, listPublicLinks, type PublicLink } from '../../../s3/access.ts';
import type { Place } from '../../../s3/objects.ts';
import { config, session } from '../../../session/session.ts';
import { Button } from '../../../ui/button.tsx';
import { CommandLine, CopyButton } from '../../../ui/command-line.tsx';
import { Field } from '../../../ui/dialog.tsx';
import { useLoaded } from '../../../ui/loaded.ts';
import { attempt, ErrorBox } from '../../../ui/notices.tsx';

const hour = 3_600;

/** Links for people without a key: public links, which can be revoked, and presigned URLs. */
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
  const target = config.value!;
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
        <Button
          kind="primary"
          onClick={() =>
            void attempt(async () => {
              setMade(await createPublicLink(client, place, hours * hour));
              links.reload();
            })
          }
        >
          {texts.newLink}
        </Button>
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
            <Button
              onClick={() =>
                void attempt(async () => {
                  await deletePublicLink(client, place, link.id);
                  if (made?.id === link.id) setMade(undefined);
                  links.reload();
                })
              }
            >
              {texts.revoke}
            </Button>
            <CopyButton
              name={`curl: ${texts.revoke} ${link.id}`}
              text={revokeLinkCommand(target, bucket, key, link.id)}
            />
          </div>
        </div>
      ))}
      <CommandLine command={createLinkCommand(target, bucket, key, hours * hour)} label="curl" />
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
  return (
    <section class="stack tight">
      <h3>{texts.presigned}</h3>
      <p class="hint">{texts.presignedHint}</p>
      <Field label={texts.presignedMethod}>
        {(ids) => (
          <select
            {...ids}
            value={method}
            onChange={(event) => {
              setMethod(event.currentTarget.value as 'GET' | 'PUT');
              setUrl('');
            }}
          >
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
        <Button
          onClick={() =>
            void attempt(async () => {
              setUrl(await client.presigned({ method, bucket, key }, hours * hour));
            })
          }
        >
          {texts.makeUrl}
        </Button>
      </div>
      {url !== '' && <CommandLine command={url} label={texts.presigned} />}
      <CommandLine {...presignCommand(config.value!, { method, bucket, key, seconds: hours * hour })} />
      {url !== '' && <CommandLine label="curl" command={curlOfUrl(method, url)} />}
    </section>
  );
}
