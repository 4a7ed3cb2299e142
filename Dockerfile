# fencepost's server with the English model, on the CPU (docs/containers.md).
#
#   docker build -t fencepost .
#   docker run --rm -p 127.0.0.1:8000:8000 --read-only --tmpfs /tmp fencepost
#
# Every package comes from a lock file with hashes. The lock files are for Linux on x86-64.

FROM python:3.13-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY requirements/build.txt requirements/serve.txt /build/requirements/
RUN pip install --require-hashes --no-deps -r /build/requirements/build.txt
RUN python -m venv --without-pip /opt/fencepost
RUN pip --python /opt/fencepost/bin/python install --require-hashes --no-deps -r /build/requirements/serve.txt
COPY pyproject.toml README.md LICENSE /build/
COPY licenses /build/licenses
COPY src /build/src
RUN pip wheel --no-build-isolation --no-deps --wheel-dir /build/dist /build
RUN pip --python /opt/fencepost/bin/python install --no-index --no-deps /build/dist/fencepost-*.whl
RUN /opt/fencepost/bin/fencepost models verify en

FROM python:3.13-slim
LABEL org.opencontainers.image.title="fencepost" \
      org.opencontainers.image.description="A constituency parser: text in, trees out" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/fencepost /opt/fencepost
ENV PATH=/opt/fencepost/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
USER 10001:10001
WORKDIR /tmp
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["fencepost"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
