import { S3Error } from '../../../shared/errors/s3-error.ts';
import { checkKey } from '../../../shared/http/address.ts';
import type { Bucket } from '../../../shared/storage/buckets/bucket.ts';
import { asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import { LockedVersion } from '../../../shared/storage/versions/object-lock.ts';
import { versionIdOf, type Version } from '../../../shared/storage/versions/versions.ts';
import { NotCopied, type Copy, type Destination, type HeldKey } from './destination.ts';
import { importVersion, type VersionImportDeps } from './import-version.ts';
import { comparedHere } from './key-plan.ts';

const scanPage = 1000;

interface LocalDestinationDeps extends Omit<VersionImportDeps, 'onLoss'> {
  /** The bucket of the source. */
  readonly from: string;
  readonly to: Bucket;
}

/** A bucket of this service. Versions keep their times, so they are recognised by them. */
export class LocalDestination implements Destination<Version> {
  readonly where = 'here';
  readonly covers = false;
  readonly isSame = comparedHere.isSame;
  readonly isReplaced = comparedHere.isReplaced;
  readonly #deps: LocalDestinationDeps;

  constructor(deps: LocalDestinationDeps) {
    this.#deps = deps;
  }

  get bucket(): string {
    return this.#deps.to.name;
  }

  async *keys(prefix: string): AsyncGenerator<HeldKey<Version>> {
    const { to, services } = this.#deps;
    for (let after: string | undefined, more = true; more;) {
      const page = await services.objects.scan(to, { prefix, limit: scanPage, ...(after !== undefined && { after }) });
      for (const { key, currentVersion } of page.entries) {
        const versions = async (): Promise<readonly Version[]> =>
          (await services.objects.versions(to, key, currentVersion, Number.MAX_SAFE_INTEGER)).toReversed();
        yield { key, versions };
      }
      after = page.entries.at(-1)?.key;
      more = page.more && after !== undefined;
    }
  }

  idOf(version: Version): string {
    return versionIdOf(version);
  }

  async copy({ key, version, above, onLoss }: Copy<Version>): Promise<Version> {
    const { from, to, services } = this.#deps;
    try {
      checkKey(key, services.settings.limits.keyBytes);
      return await importVersion({ ...this.#deps, onLoss }, { from, key, version, to, above });
    } catch (error) {
      if (error instanceof LockedVersion) throw new NotCopied('the version that it replaces is locked');
      const isOfKey =
        error instanceof S3Error && ['KeyTooLongError', 'InvalidArgument', 'InvalidURI'].includes(error.code);
      throw isOfKey ? new NotCopied(`${error.code}: ${error.message}`) : error;
    }
  }

  async remove(key: string, version: Version): Promise<'removed' | 'locked'> {
    const { to, services } = this.#deps;
    try {
      await services.objects.remove({ by: 'operator', authorisation: asService(to, key, versionIdOf(version)) });
      return 'removed';
    } catch (error) {
      if (error instanceof LockedVersion) return 'locked';
      throw error;
    }
  }
}
