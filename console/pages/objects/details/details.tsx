import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { AccessTab } from './access-tab.tsx';
import { LinksTab } from './links-tab.tsx';
import { PreviewTab } from './preview-tab.tsx';
import { PropertiesTab } from './properties-tab.tsx';
import { Unreachable } from './unreachable.tsx';
import { VersionsTab } from './versions-tab.tsx';
import { useChanges } from '../changes.ts';
import { shownName } from '../names.ts';
import { t } from '../../../messages/messages.ts';
import { isUnreachable } from '../../../s3/address.ts';
import { isFailure } from '../../../s3/failure.ts';
import { headObject } from '../../../s3/objects.ts';
import { session } from '../../../session/session.ts';
import { downloadObject } from '../../../transfers/download.ts';
import { Button } from '../../../ui/button.tsx';
import { useLoaded } from '../../../ui/loaded.ts';
import { attempt, ErrorBox } from '../../../ui/notices.tsx';
import { Tabs } from '../../../ui/tabs.tsx';

const tabs = ['preview', 'properties', 'versions', 'access', 'links'] as const;
type Tab = (typeof tabs)[number];

/** The details of an object: preview, properties, versions and access. Each tab is loaded when it is opened. */
export function Details({
  bucket,
  objectKey,
  tab: asked,
  onTab,
  onClose,
}: {
  readonly bucket: string;
  readonly objectKey: string;
  /** The tab in the address; any other text means the preview. */
  readonly tab: string | undefined;
  readonly onTab: (tab: Tab) => void;
  readonly onClose: () => void;
}) {
  const tab = tabs.find((each) => each === asked) ?? 'preview';
  const [versionId, setVersionId] = useState<string>();
  const { client } = session.value!;
  const texts = t.value.details;
  const place = { bucket, key: objectKey };
  const name = shownName(objectKey);
  const isReachable = !isUnreachable(objectKey);
  const head = useLoaded(
    async (signal) => (isReachable ? headObject(client, bucket, objectKey, undefined, signal) : undefined),
    [client, bucket, objectKey],
  );
  useChanges(bucket, head.reload);
  const object = head.value;
  // When the object has become another one, what is shown of it is read again.
  const state = object && `${object.versionId} ${object.etag} ${object.modified.getTime()}`;
  return (
    <aside class="details" aria-label={texts.title}>
      <header>
        <h2>{name}</h2>
        {isReachable && (
          <Button
            icon="download"
            tip={t.value.objects.download}
            onClick={() => void attempt(() => downloadObject(client, bucket, objectKey, versionId))}
          />
        )}
        <Button icon="close" label={texts.close} onClick={onClose} />
      </header>
      {!isReachable ? (
        <Unreachable place={place} />
      ) : (
        <Tabs
          label={texts.title}
          current={tab}
          onChange={(next: Tab) => {
            onTab(next);
            setVersionId(undefined);
          }}
          tabs={tabs.map((each) => [each, texts[each]] as const)}
        >
          {tab === 'versions' ? (
            <VersionsTab
              place={place}
              onPreview={(version) => {
                onTab('preview');
                setVersionId(version);
              }}
            />
          ) : tab === 'preview' && versionId !== undefined ? (
            <PreviewTab place={{ ...place, versionId }} />
          ) : isFailure(head.error) && head.error.status === 404 ? (
            <p>{texts.gone}</p>
          ) : head.error !== undefined && (tab === 'preview' || tab === 'properties') ? (
            <ErrorBox error={head.error} retry={head.reload} />
          ) : object === undefined && head.error === undefined ? (
            <div class="skeleton" />
          ) : (
            <Fragment key={state}>
              {tab === 'preview' && <PreviewTab place={place} object={object} />}
              {tab === 'properties' && object && <PropertiesTab place={place} object={object} />}
              {tab === 'access' && <AccessTab place={place} />}
              {tab === 'links' && <LinksTab place={place} />}
            </Fragment>
          )}
        </Tabs>
      )}
    </aside>
  );
}
