// A mount without a face: it takes bytes in, for the map beside it.

export default function ({ data }) {
  if (ArrayBuffer.isView(data)) holdPayload(data);
}
