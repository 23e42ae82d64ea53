import { useState } from 'preact/hooks';
import { AccessTab } from './access-tab.tsx';
import { LinksTab } from './links-tab.tsx';
import { PreviewTab } from './preview-tab.tsx';
import { PropertiesTab } from './properties-tab.tsx';
import { Unreachable } from './unreachable.tsx';
import { VersionsTab } from './versions-tab.tsx';
import { shownName } from '../names.ts';
import { t } from '../../../messages/messages.ts';
import { isUnreachable } from '../../../s3/address.ts';
import { session } from '../../../session/session.ts';
import { downloadObject } from '../../../transfers/download.ts';
import { Icon } from '../../../ui/icons.tsx';
import { attempt } from '../../../ui/notices.tsx';
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
  return (
    <aside class="details" aria-label={texts.title}>
      <header>
        <h2>{name}</h2>
        {isReachable && (
          <button
            type="button"
            class="quiet square"
            aria-label={t.value.objects.download}
            title={t.value.objects.download}
            onClick={() => void attempt(() => downloadObject(client, bucket, objectKey, versionId))}
          >
            <Icon name="download" />
          </button>
        )}
        <button type="button" class="quiet square" aria-label={texts.close} onClick={onClose}>
          <Icon name="close" />
        </button>
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
          {tab === 'preview' && <PreviewTab place={{ ...place, versionId }} />}
          {tab === 'properties' && <PropertiesTab place={place} />}
          {tab === 'versions' && (
            <VersionsTab
              place={place}
              onPreview={(version) => {
                onTab('preview');
                setVersionId(version);
              }}
            />
          )}
          {tab === 'access' && <AccessTab place={place} />}
          {tab === 'links' && <LinksTab place={place} />}
        </Tabs>
      )}
    </aside>
  );
}
