/** The bucket for files, such as those of the archive, if this deployment has one. */
export const bucketOf = (env: { ARCHIVE?: R2Bucket }): R2Bucket | undefined => env.ARCHIVE;
