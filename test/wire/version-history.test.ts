import fc from 'fast-check';
import { expect, it } from 'vitest';
import { textOf, textsOf } from '../support/clients/expect-error.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { assertSideBySide } from '../support/runs/side-by-side.ts';
import { queryOf } from '../support/clients/signer.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/Versioning.html, as a model of a few lines. */

const service = serviceUnderTest();

interface ModelVersion {
  readonly id: string;
  /** Undefined: a delete marker. */
  readonly content: string | undefined;
}

/** A model of a bucket with versions. */
class ModelBucket {
  versioning: 'off' | 'Enabled' | 'Suspended' = 'off';
  /** The versions of each key, newest first. */
  readonly keys = new Map<string, readonly ModelVersion[]>();

  of(key: string): readonly ModelVersion[] {
    return this.keys.get(key) ?? [];
  }

  /** A write or a delete marker: with an id of its own, or in the place of the null version. */
  add(key: string, version: ModelVersion): void {
    this.keys.set(key, [version, ...this.of(key).filter(({ id }) => version.id !== 'null' || id !== 'null')]);
  }

  remove(key: string, id: string): void {
    this.keys.set(
      key,
      this.of(key).filter((version) => version.id !== id),
    );
  }

  /** The rows of a listing of versions. */
  rows(): string[] {
    return [...this.keys]
      .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .flatMap(([key, versions]) =>
        versions.map(
          ({ id, content }, at) =>
            `${content === undefined ? 'DeleteMarker' : 'Version'} ${key} ${id} ${at === 0} ${content?.length ?? '-'}`,
        ),
      );
  }

  /** The keys that a listing of objects shows. */
  objects(): string[] {
    return [...this.keys]
      .filter(([, versions]) => versions[0]?.content !== undefined)
      .map(([key]) => key)
      .sort();
  }
}

type Step =
  | { readonly do: 'put' | 'delete'; readonly key: string }
  | { readonly do: 'delete version'; readonly key: string; readonly which: number }
  | { readonly do: 'version'; readonly status: 'Enabled' | 'Suspended' };

const keys = ['a', 'a/b', 'ä'];
const key = fc.constantFrom(...keys);
const steps = fc.array(
  fc.oneof<fc.WeightedArbitrary<Step>[]>(
    { arbitrary: fc.record({ do: fc.constant('put' as const), key }), weight: 5 },
    { arbitrary: fc.record({ do: fc.constant('delete' as const), key }), weight: 3 },
    {
      arbitrary: fc.record({ do: fc.constant('delete version' as const), key, which: fc.nat(5) }),
      weight: 4,
    },
    {
      arbitrary: fc.record({
        do: fc.constant('version' as const),
        status: fc.constantFrom('Enabled' as const, 'Suspended' as const),
      }),
      weight: 1,
    },
  ),
  { minLength: 60, maxLength: 120, size: 'max' },
);

/** A history of one bucket, applied to the service and to the model. */
class History {
  readonly #bucket: string;
  readonly #model = new ModelBucket();
  #writes = 0;

  constructor(bucket: string) {
    this.#bucket = bucket;
  }

  async perform(step: Step): Promise<void> {
    switch (step.do) {
      case 'put':
        return this.#put(step.key);
      case 'delete':
        return this.#delete(step.key);
      case 'delete version':
        return this.#deleteVersion(step.key, step.which);
      case 'version':
        return this.#version(step.status);
    }
  }

  async #put(key: string): Promise<void> {
    const content = 'x'.repeat(++this.#writes % 50) + this.#writes;
    const response = await service.send({ method: 'PUT', path: this.#path(key), body: content });
    expect(response.status, response.text).toBe(200);
    const id = response.header('x-amz-version-id')!;
    expect(id === 'null').toBe(this.#model.versioning !== 'Enabled');
    this.#model.add(key, { id, content });
  }

  async #delete(key: string): Promise<void> {
    const response = await service.send({ method: 'DELETE', path: this.#path(key) });
    expect(response.status, response.text).toBe(204);
    const id = response.header('x-amz-version-id');
    const isMarker = response.header('x-amz-delete-marker');
    if (this.#model.versioning === 'off') {
      expect([id, isMarker]).toEqual([undefined, undefined]);
      this.#model.remove(key, 'null');
    } else {
      expect(isMarker).toBe('true');
      expect(id === 'null').toBe(this.#model.versioning === 'Suspended');
      this.#model.add(key, { id: id!, content: undefined });
    }
  }

  /** Deletes a version that is there, the null version whether it is there or not, or one that never was. */
  async #deleteVersion(key: string, which: number): Promise<void> {
    const ids = [...this.#model.of(key).map(({ id }) => id), 'null', `V${'x'.repeat(31)}`];
    const id = ids[which % ids.length]!;
    const version = this.#model.of(key).find((one) => one.id === id);
    const response = await service.send({ method: 'DELETE', path: this.#path(key), query: `versionId=${id}` });
    expect(response.status, response.text).toBe(204);
    expect(response.header('x-amz-version-id')).toBe(this.#model.versioning === 'off' ? undefined : id);
    const wasMarker = version !== undefined && version.content === undefined;
    expect(response.header('x-amz-delete-marker')).toBe(wasMarker ? 'true' : undefined);
    this.#model.remove(key, id);
  }

  async #version(status: 'Enabled' | 'Suspended'): Promise<void> {
    const body = `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`;
    const response = await service.send({ method: 'PUT', path: `/${this.#bucket}`, query: 'versioning', body });
    expect(response.status, response.text).toBe(200);
    this.#model.versioning = status;
  }

  /** Compares all that can be seen of the bucket. */
  async compare(key: string, pageSize: number): Promise<void> {
    expect(await this.#rows(pageSize)).toEqual(this.#model.rows());
    const listed = await service.send({ path: `/${this.#bucket}`, query: 'list-type=2' });
    expect(textsOf(listed.text, 'Key')).toEqual(this.#model.objects());

    const [latest] = this.#model.of(key);
    const got = await service.send({ path: this.#path(key) });
    expect([got.status, got.header('x-amz-version-id'), got.header('x-amz-delete-marker')]).toEqual([
      latest?.content === undefined ? 404 : 200,
      latest?.id,
      latest && latest.content === undefined ? 'true' : undefined,
    ]);
    if (latest?.content !== undefined) expect(got.text).toBe(latest.content);
    for (const { id, content } of this.#model.of(key)) {
      const version = await service.send({ path: this.#path(key), query: `versionId=${id}` });
      expect(version.status).toBe(content === undefined ? 405 : 200);
      if (content !== undefined) expect(version.text).toBe(content);
    }
  }

  async #rows(pageSize: number): Promise<string[]> {
    const rows: string[] = [];
    let markers: Record<string, string> = {};
    for (;;) {
      const query = queryOf({ versions: '', 'max-keys': String(pageSize), ...markers });
      const { text } = await service.send({ path: `/${this.#bucket}`, query });
      for (const [, kind, row] of text.matchAll(/<(Version|DeleteMarker)>(.*?)<\/\1>/g)) {
        const of = (element: string) => textOf(row!, element) ?? '-';
        rows.push(`${kind} ${of('Key')} ${of('VersionId')} ${of('IsLatest')} ${of('Size')}`);
      }
      if (textOf(text, 'IsTruncated') !== 'true') return rows;
      const id = textOf(text, 'NextVersionIdMarker');
      markers = { 'key-marker': textOf(text, 'NextKeyMarker')!, ...(id !== undefined && { 'version-id-marker': id }) };
    }
  }

  #path(key: string): string {
    return `/${this.#bucket}/${encodeURIComponent(key)}`;
  }
}

it('the versions of a bucket agree with the model after every step', { timeout: 1_200_000 }, async () => {
  await assertSideBySide(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 7 }), async (history, pageSize) => {
      const bucket = await service.temporaryBucket();
      try {
        const told = new History(bucket.name);
        for (const [at, step] of history.entries()) {
          await told.perform(step);
          await told.compare('key' in step ? step.key : keys[at % keys.length]!, pageSize + (at % 3));
        }
      } finally {
        await bucket.remove();
      }
    }),
    3,
  );
});
